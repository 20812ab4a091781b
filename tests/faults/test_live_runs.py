"""Processes of a live run die, are stopped, lose their sockets: the run says so and leaves nothing behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import injection
import pytest
from injection import until
from stage import is_settled

from longhaul.results.ending import Ending
from longhaul.run import run_discovery

from .runs import Place

pytestmark = pytest.mark.usefixtures("live_machine")

LONG_WAIT = "programs: {deaf: {run: sleep 97513, host: b, service: true, ready: {tcp: 80, within: 1000h}}}"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for pid in injection.tagged(place.tag):
        injection.send(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("victim", "number"),
    [
        ("worker", signal.SIGKILL),
        ("supervisor", signal.SIGKILL),
        ("engine", signal.SIGKILL),
        ("engine", signal.SIGABRT),
    ],
)
def test_a_process_that_is_killed_is_named_with_its_signal(
    place: Place, victim: str, number: signal.Signals
) -> None:
    with place.run() as process:
        pid = place.tree(process.pid).pid(victim)
        assert pid is not None
        os.kill(pid, number)
        out, _ = process.communicate(timeout=90)
    reason = f"the {victim} was killed by {number.name}"
    assert place.ending() == Ending("crashed", reason)
    assert f"longhaul: {reason}" in out
    # Without a worker the engine still writes all that it has.
    assert process.returncode == (70 if victim == "worker" else 4)
    assert place.is_clean(), place.left()
    summary = place.summary()
    assert summary["outcome"]["state"] == "crashed"
    assert summary["outcome"]["reason"] == reason
    assert max(link["packets"]["offered"] for link in summary["links"]) > 0
    assert (place.directory / "report.html").is_file()


def test_a_client_that_is_killed_ends_its_run_which_says_so(place: Place) -> None:
    with place.run() as process:
        process.kill()
        process.wait()
        assert until(lambda: is_settled(place.directory))
    assert place.ending().status == "crashed"
    assert str(place.ending().reason).startswith(f"the client (process {process.pid}) ")
    assert until(place.is_clean), place.left()
    assert place.summary()["fidelity"]["verdict"] != "invalid"


def test_a_client_and_its_worker_that_are_killed_together_are_found_out(place: Place) -> None:
    with place.run() as process:
        worker = place.tree(process.pid).worker
        assert worker is not None
        for pid in (process.pid, worker):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        assert until(lambda: is_settled(place.directory))
        # The supervisor gives back the reserve after it has written how the run ended.
        assert until(place.is_clean), place.left()
    place.summary()
    assert place.ending().status == "crashed"


@pytest.mark.parametrize("victim", ["worker", "supervisor", "engine", "observer"])
def test_a_process_that_is_stopped_goes_on_and_that_is_told(place: Place, victim: str) -> None:
    with place.run() as process:
        pid = place.tree(process.pid).pid(victim)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        if victim == "worker":
            # Nobody needs it before the end, and a second signal would end the run without results.
            process.send_signal(signal.SIGTERM)
            assert until(lambda: injection.state(pid) != "T", within_s=10)
        else:
            assert until(lambda: injection.state(pid) != "T", within_s=10)
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=90)
    assert place.ending() == Ending("interrupted", "it was interrupted by SIGTERM")
    assert process.returncode == 130
    resumed_by = "worker" if victim == "supervisor" else "supervisor"
    warning = f"the {victim} was stopped by SIGSTOP and resumed by the {resumed_by}"
    warned = [] if victim == "worker" else [warning]
    assert [re.sub(r" at [\d.]+ s", "", each) for each in place.warnings()] == warned
    assert place.is_clean(), place.left()


def test_an_observer_that_is_killed_costs_its_records_alone(place: Place) -> None:
    with place.run() as process:
        observer = place.tree(process.pid).observer
        assert observer is not None
        os.kill(observer, signal.SIGKILL)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=90)
    assert place.ending().status == "interrupted"
    [warning] = place.warnings()
    assert warning == "TCP socket statistics are incomplete, because the observer was killed by SIGKILL"


def test_a_line_to_the_engine_that_is_shut_is_told(place: Place) -> None:
    with place.run() as process:
        tree = place.tree(process.pid)
        assert tree.engine is not None
        closed = [injection.shut_down(tree.engine, each) for each in injection.sockets(tree.engine)[-1:]]
        assert closed == [True]
        process.communicate(timeout=90)
    found = place.ending()
    assert found.status == "crashed"
    assert "engine" in str(found.reason)
    assert place.is_clean(), place.left()


def test_a_line_to_the_client_that_is_shut_ends_the_run(place: Place) -> None:
    with place.run() as process:
        [line] = injection.sockets(process.pid)
        assert injection.shut_down(process.pid, line)
        process.communicate(timeout=90)
    client = f"the client (process {process.pid})"
    assert place.ending() == Ending("crashed", f"{client} closed its control connection")
    assert place.is_clean(), place.left()


@pytest.mark.parametrize("victim", ["engine", "supervisor", "client"])
def test_running_out_of_memory_is_told(place: Place, victim: str) -> None:
    with injection.memory_group(700 << 20) as group:
        if group is None:
            pytest.skip("no control group here limits memory")
        with place.run() as process:
            tree = place.tree(process.pid)
            for pid in injection.tagged(place.tag):
                group.take_in(pid)
            pid = tree.pid(victim)
            assert pid is not None
            assert group.run_out(pid)
            process.communicate(timeout=90)
            assert until(lambda: is_settled(place.directory))
    reason = str(place.ending().reason)
    assert "SIGKILL" in reason, reason
    if victim != "client":
        assert reason.startswith(f"the {victim} was killed by SIGKILL")
    assert place.is_clean(), place.left()
    place.summary()


def test_a_full_disk_is_told_and_what_was_recorded_is_read(place: Place) -> None:
    # Many records, as each file may still grow to the end of its last page.
    many = "measure: {every: 20ms}"
    with injection.small_disk(place.path / "runs", 4 << 20) as disk, place.run(many) as process:
        filling = injection.fill(disk)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=90)
        assert process.returncode == 3, out
        assert "No space left on device" in out
        assert place.ending().status == "failed"
        assert "No space left on device" in str(place.ending().reason)
        assert any("records end at" in each for each in place.warnings())
        assert not list(place.directory.rglob("*.part"))
        filling.unlink()
        summary = place.summary()
        assert summary["outcome"]["state"] == "failed"
        assert max(link["packets"]["offered"] for link in summary["links"]) > 0


def test_a_wait_for_a_service_ends_with_the_client(place: Place) -> None:
    process = place.start("run", place.scenario(LONG_WAIT))
    try:
        assert until(lambda: place.tree(process.pid).engine is not None)
        process.kill()
        process.wait()
        assert until(lambda: is_settled(place.directory), within_s=10)
        assert place.is_clean(), place.left()
    finally:
        process.kill()
        process.communicate()
    assert place.ending().status == "crashed"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_each_signal_that_ends_commands_keeps_results(place: Place, number: signal.Signals) -> None:
    with place.run() as process:
        process.send_signal(number)
        out, _ = process.communicate(timeout=90)
    assert process.returncode == 130, out
    assert place.ending() == Ending("interrupted", f"it was interrupted by {number.name}")
    assert (place.directory / "summary.json").is_file()
    assert place.is_clean(), place.left()


def test_a_second_signal_ends_a_run_at_once_and_leaves_no_socket(place: Place) -> None:
    stubborn = "programs: {deaf: {run: \"sh -c 'trap : TERM; while :; do sleep 0.1; done'\", host: a}}"
    with place.run(stubborn) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 130
    assert place.ending() == Ending(
        "interrupted", "it was interrupted by SIGINT twice, which leaves no results"
    )
    assert place.is_clean(), place.left()


def test_nobody_who_reads_the_output_is_needed(place: Place) -> None:
    with place.run("", stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=90) == 130
    assert place.ending().status == "interrupted"
    assert (place.directory / "summary.json").is_file()


def test_a_runtime_directory_with_a_long_name_is_as_good(place: Place) -> None:
    place.runtime.rename(place.path / ("x" * 200))
    (place.path / "runtime").symlink_to("x" * 200)
    environment = {**place.environment, "XDG_RUNTIME_DIR": str(place.path / ("x" * 200))}
    assert place.command("up", place.scenario(), env=environment).returncode == 0
    assert place.command("exec", "a", "--", "true", env=environment).returncode == 0
    assert place.command("down", env=environment).returncode == 0


def test_of_several_that_want_a_name_one_gets_it(place: Place) -> None:
    path = place.scenario()
    at_once = [place.start("up", path, "--name", "dup") for _ in range(3)]
    said = [each.communicate(timeout=90)[0] for each in at_once]
    assert sorted(each.returncode for each in at_once) == [0, 2, 2], said
    assert sum("a run called dup is up, or is being brought up" in each for each in said) == 2
    ours = [
        each
        for each in run_discovery.workers()
        if any(injection.has_tag(pid, place.tag) for pid in each.pids)
    ]
    assert len(ours) == 1
    assert place.command("down", "--name", "dup").returncode in (0, 4)
    assert place.is_clean(), place.left()


def test_a_network_whose_socket_is_gone_is_found_and_taken_down(place: Place) -> None:
    assert place.command("up", place.scenario()).returncode == 0
    for each in (place.runtime / "longhaul").iterdir():
        each.unlink()
    told = place.command("status")
    assert told.returncode == 2
    assert f"{place.name} is up (process" in told.stderr
    assert f"its socket is gone; end it: longhaul down --name {place.name}" in told.stderr
    assert place.command("up", place.scenario()).returncode == 2, "the name is taken"
    done = place.command("down", "--name", place.name)
    assert done.returncode in (0, 4), done.stderr
    assert place.ending() == Ending("stopped", "the run's worker or supervisor received SIGTERM")
    assert place.is_clean(), place.left()


@pytest.mark.parametrize("victim", ["worker", "supervisor"])
def test_a_network_that_stands_alone_writes_how_it_ended(place: Place, victim: str) -> None:
    assert place.command("up", place.scenario()).returncode == 0
    assert until(place.records_something)
    pid = place.tree().pid(victim)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: is_settled(place.directory), within_s=10)
    assert place.is_clean(), place.left()
    assert place.ending().status == "crashed"
    assert f"the {victim} was killed" in str(place.ending().reason)
    assert place.summary()["outcome"]["state"] == "crashed"


def test_clean_ends_what_is_up_by_its_processes(place: Place) -> None:
    assert place.command("up", place.scenario()).returncode == 0
    for each in (place.runtime / "longhaul").iterdir():
        each.unlink()
    assert f"ended {place.name}" in place.command("clean", "--all").stdout
    assert place.is_clean(), place.left()
    assert place.ending().status == "stopped"


def test_a_network_whose_socket_is_shut_down_can_be_taken_down(place: Place) -> None:
    assert place.command("up", place.scenario()).returncode == 0
    supervisor = place.tree().supervisor
    assert supervisor is not None
    [listener] = [each for each in injection.sockets(supervisor) if injection.is_listening(supervisor, each)]
    assert injection.shut_down(supervisor, listener)
    done = place.command("down", "--name", place.name)
    assert place.is_clean(), place.left()
    assert done.returncode in (0, 4), done.stderr
    assert place.ending().status == "stopped"


@pytest.mark.parametrize("by", ["down", "clean"])
def test_an_exporter_that_is_stopped_ends_with_its_network(place: Place, by: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    up = place.command("up", place.scenario(), f"--prometheus=127.0.0.1:{port}")
    assert up.returncode == 0, up.stderr
    assert until(lambda: place.tree().exporter is not None)
    tree = place.tree()
    assert tree.exporter is not None
    os.kill(tree.exporter, signal.SIGSTOP)
    if by == "clean":
        assert tree.supervisor is not None
        os.kill(tree.supervisor, signal.SIGKILL)
        assert until(lambda: is_settled(place.directory), within_s=10)
        assert injection.state(tree.exporter) == "T"
    assert place.command(by).returncode == 0
    assert place.is_clean(), place.left()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_command_in_a_host_ends_with_who_started_it(place: Place, number: signal.Signals) -> None:
    assert place.command("up", place.scenario()).returncode == 0
    try:
        process = place.start("exec", "a", "--", "sleep", "97514")
        assert until(lambda: len(sleepers()) == 1)
        process.send_signal(number)
        process.communicate(timeout=10)
        assert until(lambda: not sleepers(), within_s=5)
    finally:
        assert place.command("down").returncode in (0, 4)


def sleepers() -> list[int]:
    numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    return [pid for pid in numbers if injection.command(pid)[:2] == ["sleep", "97514"]]


def test_a_shell_whose_client_is_killed_leaves_nothing(place: Place) -> None:
    process = place.start("shell", "--delay", "1ms", "--", "sleep", "97514")
    assert until(lambda: len(sleepers()) == 1)
    process.kill()
    process.communicate()
    assert until(lambda: not sleepers(), within_s=10)
    assert until(lambda: not list(place.temporary.iterdir()), within_s=10), list(place.temporary.iterdir())
    assert until(lambda: not injection.tagged(place.tag), within_s=10)


def test_a_worker_that_cannot_be_started_is_a_reason(place: Place) -> None:
    code = (
        "import os, subprocess, sys\n"
        "def refuse(*_words, **_options): raise BlockingIOError(11, os.strerror(11))\n"
        "subprocess.Popen = refuse\n"
        "from longhaul.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", place.scenario()],
        cwd=place.path,
        env=place.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot start the worker: Resource temporarily unavailable" in done.stderr
    assert done.returncode == 3
    assert place.ending().status == "failed"
