"""Commands that users run in hosts that are kernels of their own, and networks of such hosts that stay up."""

import json
import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from virtual_runs import BETWEEN_TWO, Longhaul

from longhaul.run import api
from longhaul.run.host_state import host_state
from longhaul.run.sockets import socket_path
from longhaul.subprocesses import python_command

CLI = python_command("longhaul.cli.main")
RTT_MS = 20.0


@pytest.fixture
def up(
    longhaul: Longhaul, work: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The network of two, up; the run directory's parent is ``work / "runs"``."""
    (work / "two.yaml").write_text(BETWEEN_TWO)
    brought = longhaul("up", "two.yaml", "--clock", "virtual")
    assert brought.returncode == 0, brought.stderr
    # This process asks for states of hosts.
    monkeypatch.setenv("XDG_RUNTIME_DIR", environment["XDG_RUNTIME_DIR"])
    yield work
    longhaul("down")


@pytest.fixture
def execute(work: Path, environment: dict[str, str]) -> Callable[..., "subprocess.CompletedProcess[bytes]"]:
    def call(*words: str, typed: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [*CLI, "exec", *words],
            cwd=work,
            env=environment,
            input=typed,
            capture_output=True,
            timeout=60,
            check=False,
        )

    return call


Execute = Callable[..., "subprocess.CompletedProcess[bytes]"]


def test_a_command_has_streams_environment_directory_and_exit_code(up: Path, execute: Execute) -> None:
    script = 'cat; echo "$LONGHAUL_HOST $(hostname) $PWD" >&2; exit 3'
    done = execute("a", "sh", "-c", script, typed=bytes(range(256)))
    assert (done.returncode, done.stdout) == (3, bytes(range(256)))
    assert done.stderr.decode() == f"a a {up}\n"
    assert execute("a", "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_what_cannot_run_is_refused_with_the_reason(up: Path, execute: Execute) -> None:
    done = execute("a", "no-such-program")
    assert done.returncode == 127
    assert b"no-such-program" in done.stderr
    assert b"No such file" in done.stderr
    unknown = execute("c", "true")
    assert unknown.returncode == 2
    assert b'there is no host "c"' in unknown.stderr


def test_round_trips_are_those_of_arithmetic_and_take_as_long_as_in_a_real_network(
    up: Path, execute: Execute
) -> None:
    began_s = time.monotonic()
    done = execute("a", "--", "ping", "-n", "-c", "4", "-i", "0.5", "b")
    took_s = time.monotonic() - began_s
    assert done.returncode == 0, done.stdout + done.stderr
    # 98 bytes at 100 Mbit/s in each direction, to the microsecond that ping prints.
    times_ms = [float(each) for each in re.findall(rb"time=([0-9.]+)", done.stdout)]
    assert len(times_ms) == 4
    assert all(RTT_MS <= each <= RTT_MS + 0.1 for each in times_ms), times_ms
    assert took_s > 1.5


def test_links_are_changed_while_it_is_up(up: Path, execute: Execute, longhaul: Longhaul) -> None:
    changed = longhaul("set", "a-b", "delay=40ms")
    assert changed.returncode == 0, changed.stderr
    done = execute("a", "--", "ping", "-n", "-c", "2", "-i", "0.1", "b")
    assert all(80 <= float(each) < 80.1 for each in re.findall(rb"time=([0-9.]+)", done.stdout))
    status = json.loads(longhaul("status", "--json").stdout)
    assert status["engine"]["delivered_packets"] >= 4
    ended = longhaul("down")
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((up / "runs/two/latest/summary.json").read_text())
    assert [each["words"] for each in summary["changes"]] == [["delay=40ms"]]
    assert "faithful, with 1 intervention" in ended.stdout


def passes(longhaul: Longhaul) -> bool:
    """Whether the clock of the run goes on."""
    times_ns = []
    for _ in range(2):
        times_ns.append(json.loads(longhaul("status", "--json").stdout)["engine"]["t_ns"])
        time.sleep(0.3)
    return times_ns[0] != times_ns[1]


def test_output_of_any_length_comes_whole_and_stands_the_clock_still_while_nobody_reads(
    up: Path, environment: dict[str, str], longhaul: Longhaul
) -> None:
    total = 3_000_000
    with subprocess.Popen(
        [*CLI, "exec", "a", "--", "head", "-c", str(total), "/dev/zero"],
        cwd=up,
        env=environment,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        read = len(process.stdout.read(1_000))
        deadline_s = time.monotonic() + 30
        # Once all that lies between is full.
        while passes(longhaul):
            assert time.monotonic() < deadline_s
        read += len(process.stdout.read())
    assert (read, process.returncode) == (total, 0)


def test_a_command_without_end_ends_with_its_reader_and_with_its_caller(
    up: Path, execute: Execute, environment: dict[str, str]
) -> None:
    piped = subprocess.run(
        f"{' '.join(CLI)} exec a -- yes | head -n 2",
        shell=True,
        cwd=up,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert piped.stdout == b"y\ny\n"
    with subprocess.Popen(
        [*CLI, "exec", "b", "--", "sh", "-c", "echo begun; exec sleep 1000"],
        cwd=up,
        env=environment,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.kill()
    for host, program in (("a", "yes"), ("b", "sleep")):
        commands = [each.command for each in host_state(socket_path("two"), host).processes]
        assert not any(each.startswith(program) for each in commands), commands


def test_a_host_tells_its_state(up: Path) -> None:
    state = host_state(socket_path("two"), "a")
    assert any("longhaul" in each.command and each.pid == 1 for each in state.processes)
    assert [name for name, _, _ in state.addresses if name != "lo"] == ["eth0"]


@contextmanager
def shell(work: Path, environment: dict[str, str]) -> Iterator[tuple[int, int]]:
    """An interactive shell in host a, by a terminal: its process and the terminal's master."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(work)
        command = [*CLI, "exec", "a", "--", "bash", "--norc", "-i"]
        os.execve(command[0], command, {**environment, "PS1": "in> ", "COLUMNS": "", "LINES": ""})
    try:
        yield pid, terminal
    finally:
        os.close(terminal)


def answer(terminal: int, until: str) -> str:
    """What the terminal shows up to a text."""
    shown = ""
    deadline_s = time.monotonic() + 30
    while until not in shown and time.monotonic() < deadline_s:
        if select.select([terminal], [], [], 0.2)[0]:
            with suppress(OSError):
                shown += os.read(terminal, 4_096).decode(errors="replace")
    assert until in shown, shown
    return shown


def test_a_shell_has_a_terminal(up: Path, environment: dict[str, str]) -> None:
    import fcntl
    import struct
    import termios

    with shell(up, environment) as (pid, terminal):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        answer(terminal, "in> ")
        os.write(terminal, b"hostname; echo $((40 + 2))\n")
        shown = answer(terminal, "42\r\n")
        assert "\ra\r\n" in shown
        # Ctrl-C is for the command in the host.
        os.write(terminal, b"sleep 1000\n")
        time.sleep(0.5)
        os.write(terminal, b"\x03")
        answer(terminal, "in> ")
        time.sleep(0.5)
        os.write(terminal, b"stty size\n")
        answer(terminal, "33 101\r\n")
        os.write(terminal, b"exit 5\n")
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 5


def test_a_program_in_python_has_such_a_network(
    work: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "two.yaml").write_text(BETWEEN_TWO)
    for name in ("XDG_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(name, environment[name])
    monkeypatch.setattr("tempfile.tempdir", environment["TMPDIR"])
    monkeypatch.chdir(work)
    with api.up("two.yaml", clock="virtual") as network:
        assert network.run("b", ["hostname"]).stdout == "b\n"
        network.set("a-b", delay="30ms")
        assert " 0% packet loss" in network.run("a", ["ping", "-n", "-c", "1", "b"]).stdout
    assert network.result is not None
    assert network.result.summary["virtual_clock"]["digest"]
    assert list(Path(environment["TMPDIR"]).glob("longhaul-kernels-*")) == []


def test_cleaning_leaves_what_is_up_and_its_end_leaves_nothing(
    up: Path, longhaul: Longhaul, execute: Execute, environment: dict[str, str]
) -> None:
    place = Path(environment["TMPDIR"])
    assert len(list(place.iterdir())) == 1
    longhaul("clean")
    assert execute("a", "true").returncode == 0
    assert longhaul("down").returncode == 0
    assert list(place.iterdir()) == []


def test_options_that_do_not_belong_to_the_clock_are_refused(longhaul: Longhaul, work: Path) -> None:
    (work / "two.yaml").write_text(BETWEEN_TWO)
    for options in (
        ["--kernel", "6.12"],
        ["--clock", "virtual", "--sudo"],
        ["--clock", "virtual", "--tunnel", "encrypted"],
    ):
        refused = longhaul("up", "two.yaml", *options)
        assert refused.returncode == 2, refused.stderr
        assert "--clock" in refused.stderr
