"""Figures of links from the records that a run writes, by arithmetic."""

from pathlib import Path
from typing import Any

from longhaul.page.sampling import Sampler
from longhaul.scenario import parse_scenario, resolve

TEXT = b"""\
version: 1
name: two
duration: 10s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit}}
traffic: {p: {kind: ping, from: a, to: b}}
events: [{at: 2s, link: wan, set: {rate: 20Mbit}}]
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


def links(found: Any) -> Any:
    return list(found["links"][0])


def test_rates_are_what_two_samples_differ_by(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    assert reader.sample() is None, "nothing is written yet"
    append(samples, HEAD + row(0, "forward") + row(0, "reverse"))
    assert links(reader.sample()) == [None] * 10
    append(
        samples,
        row(100, "forward", delivered=100_000, wire=125_000, lost=3, waiting=1_250) + row(100, "reverse"),
    )
    found = reader.sample()
    assert found is not None
    assert found["t_ns"] == 100_000_000
    # 100 kB in 0.1 s are 8 Mbit/s; 125 kB on a wire of 10 Mbit/s fill 0.1 s; 1,250 B wait 1 ms.
    assert links(found) == [8_000_000, 1.0, 1_000_000, 3, None, 0, 0.0, 0, 0, None]
    assert reader.sample() is None, "nothing is new"


def test_a_share_is_one_of_the_rate_at_that_time(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    append(samples, HEAD + row(2_000, "forward"))
    reader.sample()
    append(samples, row(2_100, "forward", wire=125_000))
    assert links(reader.sample())[1] == 0.5, "an event made it 20 Mbit/s"
    reader.change_rate(0, "forward", 100_000_000)
    append(samples, row(2_200, "forward", wire=250_000))
    assert links(reader.sample())[1] == 0.1, "somebody made it 100 Mbit/s"


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    append(samples, HEAD + row(0, "forward"))
    reader.sample()
    line = row(100, "forward", delivered=1_000)
    append(samples, line[:20])
    assert reader.sample() is None
    append(samples, line[20:])
    assert links(reader.sample())[0] == 80_000


def test_samples_that_come_at_once_count_together(tmp_path: Path) -> None:
    reader, samples = sampler(tmp_path), tmp_path / "raw" / "samples.csv"
    append(samples, HEAD + row(0, "forward"))
    reader.sample()
    append(
        samples, row(100, "forward", delivered=1_000, lost=2) + row(200, "forward", delivered=3_000, lost=5)
    )
    assert links(reader.sample())[:4] == [120_000, 0.0, 0, 5]


def test_lateness_is_that_of_the_packets_since(tmp_path: Path) -> None:
    reader = sampler(tmp_path)
    append(tmp_path / "raw" / "samples.csv", HEAD + row(0, "forward"))
    late = tmp_path / "raw" / "lateness.csv"
    append(late, LATE + "0,wan,forward,100,0,100,100,100\n")
    assert links(reader.sample())[4] == 495  # the 99th of 100 between 0 and 500 ns
    append(tmp_path / "raw" / "samples.csv", row(100, "forward"))
    append(late, "1,wan,forward,200,0,100,150,200\n")
    assert links(reader.sample())[4] == 1_980  # the 99th of 100, of which 50 are between 1 and 2 us


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
    append(tmp_path / "raw" / "samples.csv", HEAD + row(0, "forward"))
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [10_100_000]
    append(tmp_path / "raw" / "samples.csv", row(100, "forward"))
    found = reader.sample()
    assert found is not None
    assert found["probes"] == [None]
