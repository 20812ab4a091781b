"""Figures of links from the records that a run writes, by arithmetic."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from longhaul.page.run_requests import with_progress
from longhaul.page.sampling import NOW_FIGURES, Sampler
from longhaul.scenario import parse_scenario, resolve

TEXT = b"""\
version: 1
name: two
duration: 10s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit}}
traffic: {p: {kind: ping, from: a, to: b}}
"""
HEAD = (
    "t_ns,link,way,offered_packets,offered_bytes,copied_packets,delivered_packets,delivered_bytes,wire_bytes,"
    "lost_packets,overflowed_packets,dropped_packets,down_packets,too_big_packets,waiting_packets,waiting_bytes,"
    "flying_packets\n"
)
LATE = "t_ns,link,way,packets,sum_ns,le_500_ns,le_1000_ns,le_2000_ns\n"


def row(t_ms: int, way: str, *, delivered: int = 0, wire: int = 0, lost: int = 0, waiting: int = 0) -> str:
    return f"{t_ms}000000,wan,{way},0,0,0,0,{delivered},{wire},{lost},0,1,0,0,0,{waiting},0\n"


def sampler(directory: Path) -> Sampler:
    (directory / "raw").mkdir()
    (directory / "logs").mkdir()
    return Sampler(directory, resolve(parse_scenario(TEXT, name="two.yaml")).plan, ["p"])


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def both(t_ms: int, **counted: int) -> str:
    return row(t_ms, "forward", **counted) + row(t_ms, "reverse")


def links(found: Any) -> Any:
    return list(found["links"][0])


def now(reader: Sampler) -> dict[str, Any]:
    found = reader.now()
    assert found is not None
    return dict(zip(NOW_FIGURES, found["links"][0], strict=False))


def test_progress_of_a_simulation_does_not_move_its_latest_sample(tmp_path: Path) -> None:
    reader = sampler(tmp_path)
    append(tmp_path / "raw" / "samples.csv", HEAD + both(100))
    found = reader.sample()
    assert found is not None
    ahead = with_progress(found, {"event": "progress", "t_ns": 150_000_000, "real_s": 0.5})
    assert ahead == {**found, "real_s": 0.5}
    assert ahead["t_ns"] == 100_000_000
    alone = with_progress(None, {"event": "progress", "t_ns": 150_000_000, "real_s": 0.5})
    assert (alone["t_ns"], alone["links"], alone["probes"]) == (150_000_000, None, None)


def test_charts_show_what_two_samples_differ_by(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    assert reader.sample() is None, "nothing is written yet"
    append(samples, HEAD + both(0))
    assert links(reader.sample()) == [None] * 10
    append(samples, both(100, delivered=100_000, wire=125_000, lost=3, waiting=1_250))
    found = reader.sample()
    assert found is not None
    assert found["t_ns"] == 100_000_000
    # 125 kB in 0.1 s are 10 Mbit/s; 1,250 B wait 1 ms for 10 Mbit/s.
    assert links(found) == [10_000_000, 1_000_000, 3, None, 1_250, 0, 0, 0, None, 0]
    assert reader.sample() is None, "nothing is new"


def test_what_stands_beside_a_link_is_the_average_of_the_latest_second(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    # 10 Mbit/s for 1 s, and then nothing: what is under way arrives later, but no longer leaves.
    append(samples, HEAD + "".join(both(t, wire=1_250 * t, lost=t // 100) for t in range(0, 1_001, 100)))
    reader.sample()
    assert now(reader) == {
        "throughput_bits_per_s": 10_000_000,
        "utilisation": 1.0,
        "queueing_delay_ns": 0,
        "undelivered_packets": 11,
        "lateness_p99_ns": None,
    }
    append(samples, both(1_400, delivered=100_000, wire=1_250_000, lost=10))
    reader.sample()
    assert reader.now() is None, "half a second must have passed"
    append(samples, both(1_500, delivered=125_000, wire=1_250_000, lost=10))
    reader.sample()
    assert now(reader)["throughput_bits_per_s"] == 5_000_000


def set_rate(directory: Path, at_ms: int, bits_per_s: int) -> None:
    """As a run records a change that it applied."""
    change = {"rate": {"model": "constant", "bits_per_s": bits_per_s}}
    row = {"at_ns": at_ms * 10**6, "link": 0, "direction": "forward", "route": None, "change": change}
    append(directory / "raw" / "changes.jsonl", json.dumps(row) + "\n")


def test_throughput_over_the_rate_is_the_utilisation_at_every_instant(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    chance = random.Random(1)
    wire = delivered = t_ms = 0
    append(samples, HEAD + both(0))
    told = 0
    for _ in range(200):
        t_ms += chance.choice((100, 300, 1_000, 2_500))
        wire += chance.randrange(0, 100_000)
        # What leaves arrives later.
        delivered += chance.randrange(0, wire - delivered + 1)
        append(samples, both(t_ms, wire=wire, delivered=delivered))
        reader.sample()
        if (found := reader.now()) is not None:
            throughput, used = found["links"][0][:2]
            assert used == pytest.approx(throughput / 10e6, abs=1e-7)
            told += 1
    assert told > 100


def test_a_share_is_one_of_the_rate_at_that_time(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    append(samples, HEAD + both(2_000) + both(3_000, wire=1_250_000))
    reader.sample()
    assert now(reader)["utilisation"] == 1.0
    set_rate(tmp_path, 3_500, 100_000_000)
    append(samples, both(4_000, wire=2_500_000))
    reader.sample()
    # Half a second at 10 Mbit/s, and half at 100.
    assert now(reader)["utilisation"] == pytest.approx(10 / 55, abs=1e-6)


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    append(samples, HEAD + both(0))
    reader.sample()
    lines = both(100, wire=1_000)
    for part in (lines[:20], lines[20:-20]):
        append(samples, part)
        assert reader.sample() is None
    append(samples, lines[-20:])
    assert links(reader.sample())[0] == 80_000


def test_samples_that_come_at_once_count_together(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    append(samples, HEAD + both(0))
    reader.sample()
    append(samples, both(100, wire=1_000, lost=2) + both(200, wire=3_000, lost=5))
    assert links(reader.sample())[:3] == [120_000, 0, 5]


def test_lateness_is_that_of_the_packets_since(tmp_path: Path) -> None:
    reader = sampler(tmp_path)
    append(tmp_path / "raw" / "samples.csv", HEAD + both(0))
    late = tmp_path / "raw" / "lateness.csv"
    append(late, LATE + "100,wan,forward,100,0,100,100,100\n")
    assert links(reader.sample())[3] == 495  # the 99th of 100 between 0 and 500 ns
    append(tmp_path / "raw" / "samples.csv", both(100))
    append(late, "200,wan,forward,200,0,100,150,200\n")
    assert links(reader.sample())[3] == 1_980  # the 99th of 100, of which 50 are between 1 and 2 us
    # Of all 200 of the latest second it is the 198th, the 48th of the last 50.
    assert now(reader)["lateness_p99_ns"] == 1_960


def test_the_latest_answer_of_a_ping_is_told(tmp_path: Path) -> None:
    reader = sampler(tmp_path)
    log = tmp_path / "logs" / "p.out"
    append(
        log,
        "PING b (10.0.0.2) 56(84) bytes of data.\n[1.5] 64 bytes from b: icmp_seq=1 ttl=64 time=10.1 ms\n",
    )
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [10_100_000]
    append(log, "[2.5] 64 bytes from b: icmp_seq=2 ttl=64 time=60.2 ms\n")
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [60_200_000]


def test_a_ping_without_an_answer_does_not_keep_its_last_one(tmp_path: Path) -> None:
    reader = sampler(tmp_path)
    append(tmp_path / "logs" / "p.out", "[1.5] 64 bytes from b: icmp_seq=1 ttl=64 time=10.1 ms\n")
    append(tmp_path / "raw" / "samples.csv", HEAD + both(0))
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [10_100_000]
    append(tmp_path / "raw" / "samples.csv", both(100))
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [None]


def test_the_answers_of_a_simulated_ping_are_told(tmp_path: Path) -> None:
    reader = sampler(tmp_path)
    pings = tmp_path / "raw" / "pings.csv"
    append(pings, "flow,seq,sent_ns,rtt_ns\np,1,0,10000000\np,2,100,11000000\np,3,200,\nother,1,0,5\n")
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [11_000_000]
