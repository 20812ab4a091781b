"""A plan of transfers carried out live: eWAN's serial service at a fiftieth of its rates."""

import json
import os
import signal
import threading
import time
from pathlib import Path
from shutil import which

import pytest
from transferring import SCENARIO, SMALL, carried

from longhaul.results import ending
from longhaul.run.session import RunFailedError
from longhaul.transfers.execute import live

# 20.72 Mbit/s carry 20 Mbit/s of payload; 80 Mbit take 4 s. BDP: 173 segments.
NETWORK = ("--set", "access=20.72Mbit", "--set", "window=260", "--set", "queue=500kB")


def test_live_transfers_keep_to_the_plan(tmp_path):
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL)
    offs = []
    for _attempt in range(3):
        _code, summary = carried(
            tmp_path, str(requests), "--scenario", SCENARIO, "--policy", "serial-fcfs", *NETWORK
        )
        found = summary["planned_transfers"]["requests"]
        assert [each["state"] for each in found] == ["done", "done"]
        assert found[0]["planned"]["finish_s"] - found[0]["planned"]["start_s"] == pytest.approx(4.0)
        # Nobody is faster than the rate, but for the way of the last byte.
        assert all(each["achieved"]["finish_s"] - each["achieved"]["start_s"] > 4.0 for each in found)
        offs.append(max(each["finish_off"] for each in found))
        if offs[-1] < 0.05:
            break
    # A sender makes up for 10 ms in which the machine does not run it, no more: a busy one took 6 to 9 %.
    assert min(offs) < 0.1, offs


def sender_of(host: str) -> int | None:
    """The process that sends from a host: its agent's child."""
    agents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if b"longhaul.transfers.execute.agent" in words and host.encode() in words:
                agents[int(entry.name)] = parent
    return next((pid for pid, parent in agents.items() if parent in agents), None)


@pytest.mark.waiting
def test_a_sender_that_is_killed_begins_again_where_it_was(tmp_path):
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL)
    killed = []

    def kill() -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until and not killed:
            pid = sender_of("src1")
            if pid is None:
                time.sleep(0.05)
                continue
            # It is there up to two seconds before it may send, and needs four.
            time.sleep(3.5)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    code, summary = carried(
        tmp_path, str(requests), "--scenario", SCENARIO, "--policy", "serial-fcfs", *NETWORK
    )
    killer.join()
    assert killed
    first, second = summary["planned_transfers"]["requests"]
    decisions = summary["planned_transfers"]["decisions"]
    failures = [each for each in decisions if "was killed (signal 9)" in each["what"]]
    assert [(each["why"], each["request"]) for each in failures] == [("failure", "r1")]
    assert (first["state"], first["attempts"], second["state"]) == ("done", 2, "done")
    # Data that had arrived are not sent twice: that would be a third of the whole and more.
    [sent] = [
        link["packets"]["delivered"]
        for link in summary["links"]
        if (link["name"], link["way"]) == ("src1-lyon", "forward")
    ]
    assert 10e6 / 1448 <= sent < 1.2 * 10e6 / 1448
    assert first["achieved"]["finish_s"] < 4.0 + 4.0
    assert code == 0


@pytest.mark.waiting
def test_a_plan_whose_controller_fails_is_a_failed_run_without_a_report(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "AGENTS_WITHIN_S", -1.0)
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL)
    with pytest.raises(RunFailedError, match="4 of 4 transfer agents did not start") as caught:
        carried(tmp_path, str(requests), "--scenario", SCENARIO, "--policy", "serial-fcfs", *NETWORK)
    assert caught.value.exit_code == 1
    directory = tmp_path / "two-sites/latest"
    assert ending.read(directory) == ending.Ending("failed", "4 of 4 transfer agents did not start")
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["outcome"]["state"] == summary["ended"] == "failed"
    assert not (directory / "report.html").exists(), "--no-report"


@pytest.mark.waiting
@pytest.mark.parametrize("program", ["iperf3", "rsync", "rclone"])
def test_commands_move_everything(tmp_path, program):
    if which(program) is None:
        pytest.skip(f"{program} is not installed")
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL.replace("10MB", "2MB"))
    code, summary = carried(
        tmp_path,
        *(str(requests), "--scenario", SCENARIO, "--policy", "fair", "--with", program),
        *NETWORK,
    )
    found = summary["planned_transfers"]["requests"]
    assert [(each["state"], each["met"]) for each in found] == [("done", True), ("done", True)]
    # 10 Mbit/s each.
    assert all(each["achieved"]["finish_s"] - each["achieved"]["start_s"] > 1.6 * 0.9 for each in found)
    assert code == 0
    if program != "iperf3":
        for number in (1, 2):
            copy = tmp_path / f"two-sites/latest/data/sink{number}/r{number}/r{number}"
            assert copy.stat().st_size == 2_000_000


@pytest.mark.waiting
def test_a_command_that_fails_is_quoted(tmp_path):
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL)
    code, summary = carried(
        tmp_path,
        *(str(requests), "--scenario", SCENARIO, "--policy", "fair", "--attempts", "1"),
        *("--command", "sh -c 'echo no such bucket; exit 4'", *NETWORK),
    )
    assert code == 1
    reasons = {each["reason"] for each in summary["planned_transfers"]["requests"]}
    assert reasons == {"its process ended with 4 (no such bucket); 0 of 10 MB arrived"}
