"""Memory of hosts: as much as the scenario says, and a run that says where it did not suffice."""

from virtual_runs import Run

SCENARIO = """\
version: 1
name: two
duration: 2s
# import sys
# taken = [b"x" * (1 << 20) for _ in range(int(sys.argv[1]))]
nodes:
  a: {kind: host, memory: 512MiB}
  b: {kind: host}
  c: {kind: host, memory: 64MiB}
  r: {kind: router}
links:
  a-r: {endpoints: [a, r]}
  b-r: {endpoints: [b, r]}
  c-r: {endpoints: [c, r]}
programs:
  much: {run: "python3 program.py 400", host: a}
  some: {run: "python3 program.py 150", host: b}
  too-much: {run: "python3 program.py 300", host: b, start: after some}
  little: {run: "python3 program.py 20", host: c}
  too-much-there: {run: "python3 program.py 300", host: c, start: after little}
"""


def test_programs_have_the_memory_of_the_scenario_and_not_more(run: Run) -> None:
    ran = run(SCENARIO)

    assert ran.code == 1, ran.stderr
    programs = {each["name"]: each["ending"] for each in ran.summary["programs"]}
    assert [name for name, ending in programs.items() if ending == "exit 0"] == ["much", "some", "little"]
    limits = {each["host"]: each for each in ran.summary["limits"]}
    assert {host: each["oom_kills"] for host, each in limits.items()} == {"a": 0, "b": 1, "c": 1}
    assert (limits["a"]["memory_bytes"], limits["c"]["memory_bytes"]) == (512 << 20, 64 << 20)
    # Beside what programs may use, there is room for the kernel and for socket buffers.
    assert 224 << 20 < limits["b"]["memory_bytes"] < 324 << 20
    text = "c had 1 process killed at its memory limit of 67.1 MB; memory of the host sets it"
    assert text in " ".join(ran.stdout.split())
    assert text in (ran.directory / "report.html").read_text()
