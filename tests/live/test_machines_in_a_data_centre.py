"""Runs on several machines that are hosts of a live run themselves: a data centre with cables of 25 µs."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from machine_room import missing, write_keys

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

COMMAND = str(Path(sys.executable).parent / "longhaul")
DATA_CENTRE = """\
version: 1
name: dc
isolation: none
nodes:
  switch: {kind: router}
  m1..2: {kind: host, attach: switch, profile: cable}
  boss: {kind: host, attach: switch, profile: cable}
profiles: {cable: {rate: 10Gbit, delay: 25us}}
"""
WAN = """\
version: 1
name: inner
duration: {duration}
nodes:
  par: {{kind: router, place: m1}}
  nyc: {{kind: router, place: m2}}
  par1: {{kind: host, attach: par}}
  nyc1: {{kind: host, attach: nyc}}
links:
  atlantic: {{endpoints: [par, nyc], rate: 50Mbit, delay: 40ms}}
traffic:
  rtt: {{kind: ping, from: par1, to: nyc1, every: 20ms}}
"""


@dataclass
class DataCentre:
    place: Path
    environment: Mapping[str, str]

    def longhaul(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [COMMAND, *arguments],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, work: Path, *, duration: str) -> "subprocess.Popen[str]":
        """A run on the two machines, as seen from a third one."""
        (work / "wan.yaml").write_text(WAN.format(duration=duration))
        (work / "runtime").mkdir(mode=0o700, exist_ok=True)
        inside = [
            *("env", f"XDG_RUNTIME_DIR={work / 'runtime'}", COMMAND, "run", str(work / "wan.yaml")),
            *("--on", str(self.place / "hostfile"), "--ssh", f"ssh -F {self.place / 'ssh_config'}"),
            *("--no-report", "--runs", str(work / "runs")),
        ]
        return subprocess.Popen(
            [COMMAND, "exec", "boss", "--", *inside],
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="module")
def data_centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataCentre]:
    place = tmp_path_factory.mktemp("dc")
    (place / "runtime").mkdir(mode=0o700)
    (place / "dc.yaml").write_text(DATA_CENTRE)
    write_keys(place)
    hosts = "".join(f"Host m{number}\n HostName 10.1.0.{number}\n" for number in (1, 2))
    (place / "ssh_config").write_text(
        f"{hosts}Host *\n User root\n IdentityFile {place / 'user_key'}\n StrictHostKeyChecking no\n"
        " UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
    )
    (place / "hostfile").write_text("m1 address=10.1.0.1\nm2 address=10.1.0.2\n")
    centre = DataCentre(place, {**os.environ, "XDG_RUNTIME_DIR": str(place / "runtime")})
    up = centre.longhaul("up", "dc.yaml")
    assert up.returncode == 0, up.stderr
    daemons = []
    try:
        for name in ("m1", "m2"):
            command = [
                COMMAND,
                "exec",
                name,
                "--",
                "/usr/sbin/sshd",
                "-D",
                "-e",
                "-f",
                str(place / "sshd_config"),
            ]
            with (place / f"{name}.log").open("wb") as log:
                daemons.append(
                    subprocess.Popen(
                        command,
                        cwd=place,
                        env=centre.environment,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                    )
                )
        for name in ("m1", "m2"):
            deadline = time.monotonic() + 20
            while "Server listening" not in (place / f"{name}.log").read_text():
                assert time.monotonic() < deadline, (place / f"{name}.log").read_text()
                time.sleep(0.05)
        yield centre
    finally:
        centre.longhaul("down")
        for daemon in daemons:
            daemon.kill()
            daemon.wait()


def engine_of(work: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / "runs/inner/latest-live/raw/engine.json").read_text())
    return found


def test_cables_between_machines_take_nothing_from_the_delay(data_centre: DataCentre, work: Path) -> None:
    out, errors = data_centre.start(work, duration="3s").communicate(timeout=120)
    engine = engine_of(work)
    assert engine["packets"]["lost_between_machines"] == 0, errors
    summary = json.loads((work / "runs/inner/latest-live/summary.json").read_text())
    assert summary["ended"] == "duration", out + errors
    bounds_ns = sum(each["clock_bound_ns"] for each in summary["machines"]["crossings"])
    # ping prints a tenth of a millisecond.
    assert summary["probes"][0]["rtt_min_ns"] > 80e6 - 1e5 - bounds_ns
    paths = json.loads((work / "runs/inner/latest-live/run.json").read_text())["paths"]
    # Two cables each way, of 25 µs.
    assert paths[0]["rtt_min_ns"] >= 100_000
    for crossing in summary["machines"]["crossings"]:
        assert crossing["rtt_min_ns"] >= 100_000
        assert crossing["clock_bound_ns"] >= 50_000


def test_a_machine_that_is_200_ms_slow_ends_the_run_with_that_reason(
    data_centre: DataCentre, work: Path
) -> None:
    process = data_centre.start(work, duration="60s")
    records = work / "runs/inner"
    deadline = time.monotonic() + 60
    while not list(records.glob("*/machines/*.err")) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(5)
    try:
        changed = data_centre.longhaul("set", "m2-switch", "delay=200ms")
        assert changed.returncode == 0, changed.stderr
        began = time.monotonic()
        out, errors = process.communicate(timeout=60)
        took_s = time.monotonic() - began
    finally:
        data_centre.longhaul("set", "m2-switch", "delay=25us")
    assert re.search(r"the RTT to machine m[12] has risen by [34]\d\d ms", errors), errors + out
    assert process.returncode in (4, 70)
    assert took_s < 30


def test_loss_between_machines_is_named_in_the_verdict(data_centre: DataCentre, work: Path) -> None:
    changed = data_centre.longhaul("set", "m2-switch", "loss=3%")
    assert changed.returncode == 0, changed.stderr
    try:
        out, errors = data_centre.start(work, duration="5s").communicate(timeout=120)
    finally:
        data_centre.longhaul("set", "m2-switch", "loss=0%")
    assert engine_of(work)["packets"]["lost_between_machines"] > 0, errors
    assert "the network between the machines lost them" in out
