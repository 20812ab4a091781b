"""The page, `run --watch` and Prometheus show one and the same figure of a link."""

import json
from pathlib import Path

import numpy as np
import pytest

from longhaul.page.sampling import Sampler
from longhaul.results.monitors import LinkMonitor
from longhaul.run.live_links import Watch
from longhaul.run.metrics import link_families
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: two
duration: 10s
nodes: {a: {kind: host}, b: {kind: host}}
links:
  wan: {endpoints: [a, b], delay: 100ms, forward: {rate: 10Mbit}}
"""
HEADER = (
    "t_ns,link,way,offered_packets,offered_bytes,copied_packets,delivered_packets,delivered_bytes,wire_bytes,"
    "lost_packets,overflowed_packets,dropped_packets,down_packets,too_big_packets,waiting_packets,waiting_bytes,"
    "flying_packets\n"
)


def write(directory: Path, samples: list[tuple[int, int, int]]) -> None:
    """``samples``: ms, bytes delivered and put on the wire, of both directions."""
    lines = [
        f"{t_ms}000000,wan,{way},0,0,0,0,{delivered},{wire},0,0,0,0,0,0,0,0\n"
        for t_ms, delivered, wire in samples
        for way in ("forward", "reverse")
    ]
    (directory / "raw/samples.csv").write_text(HEADER + "".join(lines))


def plan(directory: Path) -> dict:
    (directory / "raw").mkdir()
    (directory / "logs").mkdir()
    found = resolve(parse_scenario(SCENARIO, name="two.yaml")).plan
    (directory / "plan.json").write_text(json.dumps(found))
    return found


def test_all_surfaces_show_one_throughput_and_one_utilisation(tmp_path: Path) -> None:
    # The sender stopped 50 ms ago; packets still arrive at the far end, 100 ms later.
    made = plan(tmp_path)
    write(
        tmp_path,
        [(0, 0, 0), (400, 375_000, 500_000), (950, 1_000_000, 1_000_000), (1_000, 1_000_000, 1_000_000)],
    )
    monitor = LinkMonitor(tmp_path, made)
    monitor.read()
    assert monitor.averaged_ns == 10**9
    forward = (8e6, 0.8)
    usage = monitor.usage()
    assert (usage.throughput_bits_per_s[0], usage.utilisation[0]) == pytest.approx(forward)
    assert np.isnan(usage.utilisation[1]), "there is no share of no rate"

    watched = Watch(tmp_path).links()[0]
    assert (watched.throughput_bits_per_s, watched.utilisation) == pytest.approx(forward)

    sampler = Sampler(tmp_path, made, [])
    sampler.sample()
    now = sampler.now()
    assert now is not None
    assert now["links"][0][:2] == pytest.approx(forward)

    told = {
        (family.name.removeprefix("longhaul_link_"), labels["direction"]): value
        for family in link_families(monitor)
        for _suffix, labels, value in family.samples
        if "fate" not in labels
    }
    assert told["throughput_bits_per_second", "forward"] == pytest.approx(forward[0])
    assert told["utilisation_ratio", "forward"] == pytest.approx(forward[1])
    assert told["rate_bits_per_second", "forward"] == 10_000_000
    assert ("utilisation_ratio", "reverse") not in told
    assert told["throughput_bits_per_second", "reverse"] == pytest.approx(forward[0])


@pytest.mark.parametrize(
    ("times_ms", "averaged_ms"),
    [
        (range(0, 5_000, 100), 1_000),
        (range(0, 5_000, 300), 900),
        ((0, 5_000, 10_000), 5_000),
        ((0, 100), 100),
        ((100, 200, 1_200, 1_200), 1_000),
    ],
)
def test_an_average_is_over_the_intervals_nearest_to_a_second(
    tmp_path: Path, times_ms: tuple[int, ...], averaged_ms: int
) -> None:
    monitor = LinkMonitor(tmp_path, plan(tmp_path))
    write(tmp_path, [(t_ms, 0, t_ms) for t_ms in times_ms])
    monitor.read()
    assert monitor.averaged_ns == averaged_ms * 10**6
    assert monitor.usage().throughput_bits_per_s[0] == pytest.approx(8_000)
