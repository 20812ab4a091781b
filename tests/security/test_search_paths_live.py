"""The same for real runs, whose processes are root's, and for the page."""

import os
import subprocess
from pathlib import Path

import pytest
from page.served import serving

from longhaul import subprocesses

from .conftest import Started
from .planted import SCENARIO, found, plant_programs

TRANSFER = """
version: 1
name: pair
nodes:
  a: {kind: host}
  b: {kind: host}
links:
  wire: {endpoints: [a, b], delay: 2ms, rate: 100Mbit}
"""


def test_real_runs_start_only_what_is_installed(
    planted: Path, trace: Path, tmp_path: Path, started: Started, live_machine: None
) -> None:
    """Worker, traffic's programs and the observer, with others' modules here and others' programs in PATH."""
    place = tmp_path / "open"
    place.mkdir()
    plant_programs(place, trace)
    done = started("run", "pair.yaml", PATH=os.pathsep.join([str(place), "", os.environ["PATH"]]))
    assert done.returncode in (0, 4), done.stderr
    assert found(trace) == ""
    assert "probe" in done.stdout


def test_a_shell_and_what_is_brought_up_import_nothing_from_the_working_directory(
    planted: Path, trace: Path, started: Started, live_machine: None
) -> None:
    done = started("shell", "--delay", "1ms", "--", "/bin/true")
    assert done.returncode in (0, 4), done.stderr
    try:
        done = started("up", "pair.yaml", "--prometheus=127.0.0.1:19467")
        assert done.returncode == 0, done.stderr
        done = started("exec", "a", "--", "/bin/sh", "-c", "echo $PATH; exit 3")
        assert (done.returncode, os.environ["PATH"] in done.stdout) == (3, True), done.stderr
    finally:
        assert started("down").returncode in (0, 1, 4)
    assert found(trace) == ""


def test_transfers_movers_import_nothing_from_the_working_directory(
    planted: Path, trace: Path, tmp_path: Path, started: Started, live_machine: None
) -> None:
    (planted / "pair.yaml").write_text(TRANSFER)
    (planted / "requests.yaml").write_text(
        "version: 1\nrequests:\n  one: {from: a, to: b, volume: 1MB, deadline: 10s}\n", encoding="utf-8"
    )
    done = started("transfer", "run", "requests.yaml", "--scenario", "pair.yaml", "--policy", "fair")
    assert done.returncode in (0, 4), done.stderr
    assert found(trace) == ""


def test_a_folder_from_elsewhere_is_simulated_by_the_page_without_its_modules(
    planted: Path, trace: Path
) -> None:
    with serving(planted) as server:
        run = server.start(SCENARIO, mode="sim")
        with server.listen(run) as events:
            told = dict(events)
    assert told["end"]["reason"] == "duration"
    assert found(trace) == ""


def test_programs_of_a_scenario_see_the_environment_of_their_user(
    work: Path, started: Started, live_machine: None
) -> None:
    """What keeps others' modules from us is not passed on to them."""
    (work / "hello.py").write_text("word = 'mine'")
    done = started(
        *("shell", "--delay", "1ms", "--", "/usr/bin/env", "python3", "-c"),
        "import hello, os; print(hello.word, os.environ.get('PYTHONSAFEPATH'), os.environ.get('PYTHONPATH'))",
        PYTHONPATH="/some/where",
    )
    assert done.stdout.splitlines()[0] == "mine None /some/where", done.stdout + done.stderr


def test_a_worker_for_sudo_is_started_by_its_whole_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sudo = tmp_path / "sudo"
    sudo.write_text("#!/bin/sh\nexit 0\n")
    sudo.chmod(0o755)
    tmp_path.chmod(0o777)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert subprocesses.find_program("sudo") != str(sudo)
    assert subprocess.run(["sudo", "-n", "true"], check=False).returncode == 0, "PATH would have led there"
