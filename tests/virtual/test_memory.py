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
    # Beside what programs may use, there is room for the kernel and for socket buffers.
    for host, least_mib in (("a", 512), ("b", 224), ("c", 64)):
        assert least_mib << 20 < limits[host]["memory_bytes"] < (least_mib + 100) << 20
    assert "c 1 process was killed at its memory limit of " in ran.stdout
