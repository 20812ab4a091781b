"""What collectors find on links of known latency and rate."""

import csv
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean, quantiles

import numpy as np
import pytest

import longhaul
from longhaul.analysis.probes import message_s, stream_s

COLLECT = [sys.executable, "-m", "longhaul.cli.main", "trace", "collect"]

STEADY = """
version: 1
name: steady
nodes: {a: {kind: host}, b: {kind: host}}
links:
  wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit, queue: 200p}
"""
RTT_S, RATE = 0.02, 10e6

MOVING = """
version: 1
name: moving
nodes: {a: {kind: host}, b: {kind: host}}
links:
  wan:
    endpoints: [a, b]
    delay: {trace: delay.csv, column: delay_ms}
    rate: {trace: rate.csv, column: rate_mbit}
    queue: 200p
"""
STEPS = 24
DELAYS_MS = [
    12 + 7 * math.sin(2 * math.pi * step / 12) + (4 if 14 <= step < 18 else 0) for step in range(STEPS)
]
RATES_MBIT = [6 + 3 * math.cos(2 * math.pi * step / 9) for step in range(STEPS)]

FEWEST = 3
"""Samples of a step whose quantiles mean something; a whole step of a quiet machine has five latencies
or ten rates."""

PAYLOAD = 1448 / 1500
"""Of a full segment, with time stamps."""


@contextmanager
def served(network: longhaul.Network) -> Iterator[None]:
    server = network.start(
        "b", [*COLLECT, "--serve", "[::]:7000"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert server.stdout is not None
    assert server.stdout.readline() == "serving at [::]:7000\n"
    yield
    server.terminate()
    server.wait(timeout=10)


def up(directory: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> longhaul.Network:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    (directory / "scenario.yaml").write_text(text)
    return longhaul.up(directory / "scenario.yaml", runs=directory / "runs")


def collected(network: longhaul.Network, out: Path, *options: str) -> list[dict[str, str]]:
    network.run("a", [*COLLECT, "--to", "b:7000", "-o", str(out), *options])
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def column(rows: list[dict[str, str]], name: str) -> list[float]:
    return [float(row[name]) for row in rows if row[name]]


def undisturbed(rates: list[float]) -> float:
    """Of rates, one that others' work on the machine, which only takes from them, has hardly touched."""
    return quantiles(rates, n=5)[3]


@pytest.mark.light
def test_steady_links_are_found_as_the_model_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with up(tmp_path, STEADY, monkeypatch) as network, served(network):
        nws = collected(network, tmp_path / "nws.csv", "--cc", "reno", "--period", "0s", "--count", "20")
        events = collected(
            network, tmp_path / "es.csv", "--style", "eventspace", "--cc", "reno", "--both", "--count", "15"
        )
        clean = collected(
            network,
            tmp_path / "clean.csv",
            *("--style", "eventspace", "--cc", "reno", "--less-latency", "--count", "25"),
        )
        pings = collected(
            network, tmp_path / "ping.csv", "--style", "ping", "--period", "50ms", "--count", "20"
        )

    # A small packet of some 60 bytes is serialised twice.
    small_s = RTT_S + 2 * 60 * 8 / RATE
    for name, rows in (("nws", nws), ("eventspace", events), ("ping", pings)):
        # A busy machine adds to latencies, and takes from none.
        found = min(column(rows, "rtt_ms"))
        print(f"{name}: latency {found:.3f} ms of {small_s * 1e3:.3f}")
        # Between pings of ping the machine falls asleep, and takes time to wake up.
        # Both ends are Python: two of its wake-ups are some 0.4 ms even then.
        late_ms = 1.0 if name == "ping" else 0.7
        assert small_s * 1e3 - 0.05 < found < small_s * 1e3 + late_ms

    stream = 65_536 * 8 / stream_s(65_536, rtt_s=RTT_S, bits_per_s=RATE) / 1e6
    found = undisturbed(column(nws, "rate_mbit"))
    print(f"nws: rate {found:.3f} Mbit/s, by the model {stream:.3f}")
    assert found == pytest.approx(stream, rel=0.05)

    message = 32_768 * 8 / message_s(32_768, rtt_s=small_s, bits_per_s=RATE) / 1e6
    for way in ("a", "b"):
        rates = column([row for row in events if row["src"] == way], "rate_mbit")
        print(f"eventspace from {way}: rate {undisturbed(rates):.3f} Mbit/s, by the model {message:.3f}")
        assert len(rates) == 30
        assert undisturbed(rates) == pytest.approx(message, rel=0.05)
    upper = undisturbed(column(clean, "rate_mbit"))
    print(f"eventspace less latency: rate {upper:.3f} Mbit/s of {RATE * PAYLOAD / 1e6:.3f}")
    assert upper == pytest.approx(RATE * PAYLOAD / 1e6, rel=0.05)


@pytest.mark.waiting
def test_what_is_lost_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = str(tmp_path / "ping.csv")
    with up(tmp_path, STEADY, monkeypatch) as network, served(network):
        client = network.start(
            "a",
            [*COLLECT, "--to", "b:7000", "-o", out, "--style", "ping", "--period", "100ms", "--count", "50"],
            stderr=subprocess.PIPE,
        )
        assert client.stderr is not None
        client.stderr.readline()  # the first is back: no TCP is under way any more
        network.set("wan", loss="{model: periodic, every: 4}", way="forward")
        assert client.wait(timeout=30) == 0
    rows = (tmp_path / "ping.csv").read_text().splitlines()[3:]
    gaps = [row.endswith(",") for row in rows]
    assert len(rows) == 50
    first = gaps.index(True)
    assert gaps[first:] == [number % 4 == 0 for number in range(len(gaps) - first)]
    about = json.loads((tmp_path / "ping.json").read_text())
    assert about["links"][0]["failed"] == sum(gaps)


def test_a_trace_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, unit, values in (("delay", "delay_ms", DELAYS_MS), ("rate", "rate_mbit", RATES_MBIT)):
        rows = "".join(f"{step},{value:.3f}\n" for step, value in enumerate(values))
        (tmp_path / f"{name}.csv").write_text(f"t_s,{unit}\n{rows}")
    with up(tmp_path, MOVING, monkeypatch) as network, served(network):
        zero_unix_s = time.time() - network.status()["engine"]["t_ns"] / 1e9
        rows = collected(
            network,
            tmp_path / "trace.csv",
            *("--style", "eventspace", "--cc", "reno", "--less-latency", "--duration", "16s"),
        )
    about = json.loads((tmp_path / "trace.json").read_text())
    begun_s = datetime.fromisoformat(about["started_utc"]).timestamp() - zero_unix_s
    delays, rates = np.array(DELAYS_MS), np.array(RATES_MBIT)

    def then(values: np.ndarray, at_s: np.ndarray) -> np.ndarray:
        return values[np.clip(at_s.astype(int), 0, STEPS - 1)]

    small = [row for row in rows if row["rtt_ms"]]
    at_s = begun_s + np.array(column(small, "t_s"))
    there = then(delays, at_s)
    wanted = there + then(delays, at_s + there / 1e3) + 2 * 60 * 8 / then(rates, at_s) / 1e3
    latency = compared("latency", "ms", at_s, np.array(column(small, "rtt_ms")), wanted)

    large = [row for row in rows if row["rate_mbit"]]
    at_s = begun_s + np.array(column(large, "t_s"))
    # The first row of a round begins with its small message.
    at_s += np.array([float(row["rtt_ms"] or 0) for row in large]) / 1e3
    found = np.array(column(large, "rate_mbit"))
    rate = compared("rate", "Mbit/s", at_s, found, then(rates, at_s) * PAYLOAD)

    assert latency.by_steps > 0.95
    assert rate.by_steps > 0.95
    assert abs(latency.median_error) < 1.0
    assert abs(rate.median_error) < 0.05 * fmean(RATES_MBIT)


@dataclass(frozen=True)
class Compared:
    by_steps: float
    median_error: float


def compared(name: str, unit: str, at_s: np.ndarray, found: np.ndarray, wanted: np.ndarray) -> Compared:
    """The correlation of what was found in each step of the link; that of single samples is printed.

    A step's latency is its lower quartile: a busy machine makes one in ten samples late by a round trip or
    more, and none early. Its rate is the median. Collection begins and ends within a step: the few samples of
    such a step may all lie across its border, and have no typical value.
    """
    numbers, samples = np.unique(at_s.astype(int), return_counts=True)
    steps = [at_s.astype(int) == number for number in numbers[samples >= FEWEST]]
    assert len(steps) >= STEPS / 2
    level = 0.25 if name == "latency" else 0.5
    typical = np.array([np.quantile([found[step], wanted[step]], level, axis=1) for step in steps])
    by_samples = float(np.corrcoef(found, wanted)[0, 1])
    by_steps = float(np.corrcoef(typical.T)[0, 1])
    errors = found - wanted
    print(f"{name}: {len(found)} samples, correlation {by_samples:.4f}, of steps {by_steps:.4f}, ", end="")
    print(f"error {errors.mean():+.3f} {unit}, in the median {np.median(errors):+.3f} of {found.mean():.3f}")
    return Compared(by_steps, float(np.median(errors)))
