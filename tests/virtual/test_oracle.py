"""Longhaul's links and those of Linux give the same results: a real run of both."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from virtual_runs import BETWEEN_TWO, Longhaul

from longhaul.subprocesses import python_command

Rows = dict[tuple[str, str], dict[str, Any]]
Consult = Callable[..., Rows]
Z = 3.3


@pytest.fixture
def consult(longhaul: Longhaul, work: Path) -> Consult:
    """Runs a scenario both ways; returns the rows by name and quantity."""

    def call(scenario: str, *, duration: str = "3s") -> Rows:
        (work / "two.yaml").write_text(scenario.replace("duration: 2s", f"duration: {duration}"))
        done = longhaul("oracle", "two.yaml", "--json", timeout=300)
        assert done.returncode == 0, done.stderr + done.stdout
        found = json.loads(done.stdout)
        assert found["agrees"]
        return {(row["name"], row["quantity"]): row for row in found["rows"]}

    return call


def test_a_round_trip_of_20_ms_and_a_transfer_at_100_mbit_per_s_are_the_same(consult: Consult) -> None:
    rows = consult(
        BETWEEN_TWO + "traffic:\n"
        "  probe: {kind: ping, from: a, to: b, every: 50ms, stop: 900ms}\n"
        "  bulk: {kind: tcp, from: a, to: b, start: 1s, stop: 2s, cc: cubic}\n",
        duration="3s",
    )

    rtt = rows["probe", "RTT minimum"]
    assert rtt["longhaul"] == rtt["oracle"] == 20_000_000
    goodput = rows["bulk", "goodput"]
    # 1448 of 1500 bytes are payload; slow start and the last round trip take their part.
    for side in ("longhaul", "oracle"):
        assert 0.85 * 100e6 * 1448 / 1500 < goodput[side] < 100e6 * 1448 / 1500, side
    assert rows["a > b", "lost"]["oracle"] == 0


def test_datagrams_take_the_same_time_to_the_nanosecond_and_lose_the_same_share(consult: Consult) -> None:
    lossy = BETWEEN_TWO.replace("delay: 10ms", "loss: 1%, delay: 10ms")
    rows = consult(
        lossy + "traffic: {flood: {kind: udp, from: a, to: b, rate: 20Mbit, start: 1s, stop: 2.5s}}\n"
    )

    # 1448 bytes and 28 of headers at 100 Mbit/s.
    delay = rows["flood", "delay median"]
    assert delay["longhaul"] == delay["oracle"] == 10_000_000 + (1448 + 28) * 80
    packets = rows["a > b", "packets"]["oracle"]
    assert packets == rows["a > b", "packets"]["longhaul"]
    for side in ("longhaul", "oracle"):
        assert abs(rows["flood", "loss"][side] - 0.01) < Z * sqrt(0.01 * 0.99 / packets), side


def test_an_overfull_queue_drops_as_many_packets(consult: Consult) -> None:
    narrow = BETWEEN_TWO.replace("100Mbit", "10Mbit").replace("limit: 1bdp", "limit: 20p")
    rows = consult(
        narrow + "traffic: {flood: {kind: udp, from: a, to: b, rate: 20Mbit, start: 1s, stop: 2s}}\n"
    )

    dropped = rows["a > b", "dropped"]
    assert dropped["longhaul"] > 800
    assert abs(dropped["longhaul"] - dropped["oracle"]) <= 1


def test_links_change_at_the_same_instant(consult: Consult) -> None:
    rows = consult(
        BETWEEN_TWO
        + "events:\n  - {at: 1s, link: a-b, set: {delay: 20ms}}\n  - {at: 2s, link: a-b, down: true}\n"
        + "traffic: {flood: {kind: udp, from: a, to: b, rate: 10Mbit, start: 500ms, stop: 2.5s}}\n"
    )

    # Half a second of 10 ms, and one of 20 ms; what leaves later finds the link down.
    for side in ("longhaul", "oracle"):
        assert rows["flood", "delay median"][side] == 20_000_000 + (1448 + 28) * 80
        assert rows["a > b", "lost"][side] == pytest.approx(0.25, abs=0.002)


def test_what_tc_cannot_do_is_refused_with_its_place(longhaul: Longhaul, work: Path) -> None:
    (work / "two.yaml").write_text(
        BETWEEN_TWO.replace("delay: 10ms", "loss: {model: periodic, every: 7}, delay: 10ms")
        + "traffic: {p: {kind: ping, from: a, to: b, simulated: true, every: 1s}}\n"
        + "cpu: {speed: 1}\n"
    )
    done = longhaul("oracle", "two.yaml")

    assert done.returncode == 2
    assert "two.yaml:9:" in done.stderr
    assert "links.a-b.loss: netem has no such losses (periodic)" in done.stderr
    assert "traffic.p.simulated: simulated traffic has no packets of Linux" in done.stderr
    assert "cpu: all hosts of the oracle share one processor" in done.stderr
    assert not (work / "runs").exists()


def test_a_kernel_that_the_scenario_names_and_that_is_not_built_is_an_error(
    longhaul: Longhaul, work: Path
) -> None:
    (work / "two.yaml").write_text(BETWEEN_TWO + 'kernel: "1.0"\n')
    done = longhaul("oracle", "two.yaml")

    assert done.returncode == 3
    assert 'two.yaml:10:9: kernel: this user has no guest kernel "1.0"' in done.stderr
    assert not (work / "runs").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_it_the_guest_ends_with_it(
    number: signal.Signals, environment: dict[str, str], work: Path
) -> None:
    # The run of Longhaul ends at once, and that of the oracle not before it is killed.
    (work / "two.yaml").write_text(
        BETWEEN_TWO.replace("duration: 2s\n", "") + "programs: {p: {run: sh program.sh, hosts: [a]}}\n"
    )
    (work / "program.sh").write_text(
        "[ -e runs/two/latest/oracle ] || exit 0\nwhile :; do sleep 0.001; done\n"
    )
    command = [*python_command("longhaul.cli.main"), "oracle", "two.yaml"]
    running = subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        deadline = time.monotonic() + 120
        while not _guests(work) and time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        assert _guests(work), running.communicate()[0] if running.poll() is not None else "no guest"
        os.kill(running.pid, number)
        output, _ = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()

    assert running.returncode == (-number if number == signal.SIGKILL else 130), output
    assert "Traceback" not in output
    deadline = time.monotonic() + 10
    while _guests(work) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _guests(work) == []


def _guests(work: Path) -> list[int]:
    """The processes of the oracle's kernel, by their working directory."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            place = (process / "cwd").readlink()
        except OSError:
            continue
        if place.is_relative_to(work) and place.name == "oracle":
            pids.append(int(process.name))
    return pids
