"""What programs find in a host that is a kernel of its own, and what is left of it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from virtual_runs import BETWEEN_TWO, Run, program

from longhaul.subprocesses import python_command

ENDED_BADLY = (3, 4, 70)
"""Exit codes of a run that failed, whose network was invalid because of that, or that crashed."""


def _descendant(pid: int, name: str) -> int:
    """The process of this name below another."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for child in map(int, children):
        if Path(f"/proc/{child}/comm").read_text().strip() == name:
            return child
        with suppress(LookupError):
            return _descendant(child, name)
    raise LookupError(name)


def test_a_host_has_its_name_its_address_and_the_names_of_the_others(run: Run) -> None:
    code = (
        "import os, socket; print(socket.gethostname(), os.environ['LONGHAUL_HOST'], "
        "len(socket.getaddrinfo('b', 80)) > 0, os.uname().release)"
    )
    ran = run(program(code))

    assert ran.code == 0, ran.stderr
    name, variable, known, release = ran.log("p.out").split()
    assert (name, variable, known) == ("a", "a", "True")
    assert release != os.uname().release


def test_what_programs_write_comes_back_from_the_working_directory_alone(run: Run, work: Path) -> None:
    trace = "/usr/longhaul-was-here"
    ran = run(program(f"open('result', 'w').write('good'); open({trace!r}, 'w').write('x')"))

    assert ran.code == 0, ran.stderr + ran.log("p.err")
    assert (work / "result").read_text() == "good"
    assert not os.path.exists(trace)


def test_a_program_that_fails_fails_the_run(run: Run) -> None:
    ran = run(program("raise SystemExit(3)", expect_exit=0))

    assert ran.code == 1
    (found,) = ran.summary["programs"]
    assert found["exit"] == 3


def test_a_program_that_is_not_there_is_one_error(run: Run) -> None:
    ran = run(BETWEEN_TWO + "programs:\n  p: {run: no-such-program-here, hosts: [a]}\n")

    assert ran.code != 0
    assert "no-such-program-here" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_program_is_told_to_end_and_killed_after_two_seconds_of_its_time(run: Run) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(100)"
    ran = run(program(code, stop="500ms"), duration="4s")

    (found,) = ran.summary["programs"]
    assert found["signal"] == signal.SIGKILL
    assert found["end_ns"] == 2_500_000_000


def test_a_program_starts_a_command_in_another_host_as_by_ssh(run: Run) -> None:
    code = (
        "import os, subprocess; agent = os.environ['LONGHAUL_AGENT']; "
        "print(subprocess.run([agent, '-x', 'root@b', 'hostname > there; exit 7']).returncode, "
        "subprocess.run([agent, 'nowhere', 'true']).returncode)"
    )
    ran = run(program(code))

    assert ran.code == 0, ran.stderr + ran.log("p.err")
    assert ran.log("p.out").split() == ["7", "255"]
    assert (ran.directory.parents[2] / "there").read_text() == "b\n"


@pytest.mark.parametrize("victim", ["lh-supervisor", "lh-worker", "kernel"])
def test_whatever_is_killed_nothing_is_left(
    victim: str, environment: dict[str, str], work: Path, kernels: Callable[[], list[int]]
) -> None:
    (work / "two.yaml").write_text(
        BETWEEN_TWO.replace("duration: 2s", "duration: 1000s")
        + "traffic: {p: {kind: ping, from: a, to: b, every: 10ms}}\n"
    )
    command = [*python_command("longhaul.cli.main"), "run", "two.yaml", "--clock", "virtual"]
    running = subprocess.Popen(
        command,
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        started = work / "runs" / "two" / "latest" / "raw" / "started.json"
        deadline = time.monotonic() + 60
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(kernels()[0] if victim == "kernel" else _descendant(running.pid, victim), signal.SIGKILL)
        said, _ = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()

    assert running.returncode in ENDED_BADLY, said
    assert "Traceback" not in said
    assert kernels() == []
    assert list(Path(environment["TMPDIR"]).iterdir()) == []


def test_a_kernel_that_panics_is_one_error_with_its_console(
    run: Run, kernels: Callable[[], list[int]]
) -> None:
    ran = run(program("open('/proc/sysrq-trigger', 'w').write('c')"))

    assert ran.code in ENDED_BADLY
    assert "its kernel has ended" in ran.stderr
    assert "logs/a.console" in ran.stderr
    assert kernels() == []


def test_a_kernel_writes_nothing_outside_of_its_own_directory(run: Run) -> None:
    places = (Path("/.uml"), Path.home() / ".uml")
    before = [each for place in places for each in sorted(place.glob("*"))]
    ran = run(program("pass"))

    assert ran.code == 0, ran.stderr
    assert [each for place in places for each in sorted(place.glob("*"))] == before


def test_a_kernel_and_its_processes_stay_on_one_processor(
    work: Path, environment: dict[str, str], kernels: Callable[[], list[int]]
) -> None:
    """Each that it makes while it is moved, too."""
    # Processes are made all the time, while kernels boot and move.
    forks = "import os\nwhile True:\n    os.fork() or os._exit(0)\n    os.wait()\n"
    (work / "program.py").write_text(forks)
    (work / "two.yaml").write_text(program(forks).replace("duration: 2s", "duration: 1000s"))
    command = [*python_command("longhaul.cli.main"), "run", "two.yaml", "--clock", "virtual"]
    running = subprocess.Popen(command, cwd=work, env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        places: list[set[int]] = []
        while not _one_processor_each(places) and time.monotonic() < deadline:
            time.sleep(1)
            with suppress(ProcessLookupError):  # of a process that has ended meanwhile
                places = [_processors(kernel) for kernel in kernels()]
        assert _one_processor_each(places), places
    finally:
        running.kill()
        running.wait()


def _one_processor_each(places: list[set[int]]) -> bool:
    return len(places) > 0 and all(len(place) == 1 for place in places)


def _processors(kernel: int) -> set[int]:
    """All processors that a kernel or one of its processes may use."""
    found = os.sched_getaffinity(kernel)
    for child in Path(f"/proc/{kernel}/task/{kernel}/children").read_text().split():
        with suppress(ProcessLookupError):
            found |= os.sched_getaffinity(int(child))
    return found


@pytest.mark.parametrize("size", ["60k", "200k"])
def test_a_full_disk_is_one_error_and_leaves_no_process(
    run: Run, work: Path, kernels: Callable[[], list[int]], size: str
) -> None:
    (work / "runs").mkdir()
    small = f'mount -t tmpfs -o size={size} tmpfs runs && exec "$@"'
    traffic = "traffic: {bulk: {kind: tcp, from: a, to: b, stop: 1s}}\n"
    ran = run(BETWEEN_TWO + traffic, before=("unshare", "-Urm", "sh", "-c", small, "sh"))

    assert ran.code == 3
    assert ran.stderr.count("No space left on device") == 1
    assert "Traceback" not in ran.stderr
    assert kernels() == []
