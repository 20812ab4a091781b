"""Limits of a host's processor time and memory: kept, counted, and gone with the run."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import longhaul
from longhaul import _longhaul
from longhaul.analysis.limits import limit_texts
from longhaul.errors import LonghaulError
from longhaul.run import groups
from longhaul.subprocesses import python_command

pytestmark = [pytest.mark.waiting, pytest.mark.usefixtures("private_directories")]

SCENARIO = """
version: 1
name: limits
duration: 4s
nodes:
  r: {kind: router}
  a: {kind: host, attach: r, LIMIT}
  b: {kind: host, attach: r}
programs:
  work: {run: [PYTHON, work.py], each: [a, b], expect_exit: any}
"""
BURN = """
import time
until = time.monotonic() + 3
while time.monotonic() < until:
    pass
"""
FILL = """
kept = []
for _ in range(100):
    kept.append(b"x" * (2 << 20))
print("all there")
"""


def require(*, cpu: bool = False, memory: bool = False) -> None:
    """Skip a test where no control group can limit this."""
    try:
        _longhaul.check_limits(cpu=cpu, memory=memory)
    except _longhaul.LiveError as error:
        pytest.skip(str(error))


def own_groups() -> list[Path]:
    """Those of runs of these tests; others may run meanwhile."""
    return [group for group in groups.everywhere() if groups.run_of(group).startswith("limits-")]


def scenario(folder: Path, limit: str, work: str) -> Path:
    (folder / "work.py").write_text(work)
    path = folder / "limits.yaml"
    path.write_text(SCENARIO.replace("LIMIT", limit).replace("PYTHON", sys.executable))
    return path


def test_a_host_gets_no_more_processor_time_than_its_limit(tmp_path: Path) -> None:
    require(cpu=True)
    result = longhaul.run_live(scenario(tmp_path, "cpu: 0.05", BURN), runs=tmp_path / "runs")
    [used] = [each for each in result.summary["programs"] if each["host"] == "a"]
    # A period more, in part, at each end.
    assert used["cpu_ns"] < 0.05 * (used["wall_ns"] + 2 * 10**8)
    [limit] = result.summary["limits"]
    assert (limit["host"], limit["cpu"], limit["memory_bytes"]) == ("a", 0.05, None)
    assert limit["throttled_periods"] >= 1
    assert limit["throttled_ns"] > 0
    [text] = limit_texts(result.summary["limits"])
    assert re.fullmatch(r"a was throttled for [0-9.]+ m?s at its limit of 0.05 CPUs", text)
    assert own_groups() == []


def test_a_host_that_needs_more_memory_is_killed_and_the_other_is_not(tmp_path: Path) -> None:
    require(memory=True)
    result = longhaul.run_live(scenario(tmp_path, "memory: 64MiB", FILL), runs=tmp_path / "runs")
    ended = {each["host"]: each for each in result.summary["programs"]}
    assert ended["a"]["signal"] == signal.SIGKILL
    assert ended["b"]["exit"] == 0
    [limit] = result.summary["limits"]
    assert limit["oom_kills"] == 1
    assert 48 << 20 <= limit["peak_bytes"] <= 64 << 20
    assert own_groups() == []


def test_commands_that_enter_a_host_have_its_limit(tmp_path: Path) -> None:
    require(memory=True)
    path = scenario(tmp_path, "memory: 64MiB", FILL)
    path.write_text(path.read_text().partition("programs:")[0])
    fill = [sys.executable, "work.py"]
    with longhaul.up(path, runs=tmp_path / "runs") as network:
        assert network.run("b", fill, check=False).stdout == "all there\n"
        assert network.run("a", fill, check=False).returncode in (137, -9)
        agent = f"$LONGHAUL_AGENT a {sys.executable} {tmp_path}/work.py"
        assert "all there" not in network.run("b", ["sh", "-c", agent], check=False).stdout
    assert own_groups() == []


def test_control_groups_of_a_run_that_was_killed_are_removed(tmp_path: Path) -> None:
    require(cpu=True, memory=True)
    path = scenario(tmp_path, "cpu: 0.5, memory: 64MiB", BURN)
    command = python_command("longhaul.cli.main", "run", str(path), "--runs", str(tmp_path / "runs"))
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not own_groups():
        assert time.monotonic() < until
        time.sleep(0.05)
    record = json.loads(next((tmp_path / "runs").rglob("run.json")).read_text())
    os.kill(int(record["processes"]["worker"]["pid"]), signal.SIGKILL)
    running.kill()
    running.wait()
    until = time.monotonic() + 20
    while left := [group for group in own_groups() if not groups.remove(group)]:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def test_a_machine_without_the_controller_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*, cpu: bool, memory: bool) -> None:
        error = _longhaul.LiveError("cannot limit the cpu of hosts: not delegated")
        error.message = "cannot limit the cpu of hosts: not delegated"
        error.remedy = "systemd-run --user --scope -p Delegate=yes longhaul ..."
        raise error

    monkeypatch.setattr(_longhaul, "check_limits", refuse)
    with pytest.raises(LonghaulError) as caught:
        longhaul.run_live(scenario(tmp_path, "cpu: 0.5", BURN), runs=tmp_path / "runs")
    assert "limits.yaml:7:" in str(caught.value)
    assert "Delegate=yes" in str(caught.value)
    assert caught.value.exit_code == 3
    assert not (tmp_path / "runs").exists()
