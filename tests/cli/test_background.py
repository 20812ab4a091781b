"""Background load: a share of a link's rate, simulated, between the link's own ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from longhaul.scenario import ScenarioError, parse_scenario, resolve

from .conftest import Command

TRIANGLE = """
version: 1
name: triangle
seed: 11
duration: {duration}
nodes:
  r: {{kind: router}}
  s: {{kind: router}}
  t: {{kind: router}}
  a: {{kind: host, attach: r}}
  b: {{kind: host, attach: s}}
links:
  direct: {{endpoints: [r, s], delay: 9ms, rate: 10Mbit, count: ethernet}}
  detour: {{endpoints: [r, t], delay: 1ms, rate: 20Mbit}}
  rest: {{endpoints: [t, s], delay: 1ms}}
traffic:
{traffic}
"""


def resolved(traffic: str) -> Any:
    text = TRIANGLE.format(traffic=traffic, duration="10s")
    return resolve(parse_scenario(text.encode(), name="t.yaml"))


def utilisation(work: Path, link: str, way: str = "forward") -> float:
    found = json.loads((work / "runs/triangle/latest/summary.json").read_text())
    (row,) = (each for each in found["links"] if (each["name"], each["way"]) == (link, way))
    return float(row["achieved"]["utilisation"])


def run(longhaul: Command, work: Path, how: str, traffic: str, *, duration: str) -> None:
    (work / "t.yaml").write_text(TRIANGLE.format(traffic=traffic, duration=duration))
    result = longhaul(how, "t.yaml", "--no-report")
    assert result.returncode in (0, 4), result.stdout + result.stderr


def test_a_link_carries_the_share_that_was_asked_for(longhaul: Command, work: Path) -> None:
    traffic = """
  even: {kind: background, link: direct, load: 60%, arrivals: cbr, size: 1000B}
  back: {kind: background, link: direct, direction: reverse, load: 30%}
"""
    run(longhaul, work, "sim", traffic, duration="100s")
    # Packets go over the link that was named, though they would be faster over the others.
    assert utilisation(work, "direct") == pytest.approx(0.6, rel=1e-3)
    # Of a Poisson number of packets of 1,476 + 38 bytes: 4.5 standard deviations.
    packets = 0.3 * 10e6 * 100 / (8 * (1448 + 28 + 38))
    assert utilisation(work, "direct", "reverse") == pytest.approx(0.3, rel=4.5 / packets**0.5)
    assert utilisation(work, "detour") == 0


def test_bursts_fill_the_link_for_the_share_of_the_time() -> None:
    (item,) = resolved(
        "  p: {kind: background, link: detour, load: 25%, arrivals: pareto, burst: 3ms}"
    ).traffic
    # 1,448 bytes of payload in packets of 1,476; times of Pareto with shape 1.5 have 3 scales as mean.
    assert item["rate_bits_per_s"] == round(20e6 * 1448 / 1476)
    assert [model["dist"] for model in item["on_off"]] == ["pareto", "pareto"]
    means = [3 * model["scale"] for model in item["on_off"]]
    assert means == pytest.approx([3e6, 9e6])


def test_a_real_ping_waits_behind_background_load(longhaul: Command, work: Path) -> None:
    traffic = """  load: {kind: background, link: direct, load: 90%, arrivals: cbr}
  probe: {kind: ping, from: a, to: b, every: 20ms, count: 40}
"""
    run(longhaul, work, "run", traffic, duration="2s")
    assert "-mixed-" in (work / "runs/triangle/latest").resolve().name
    assert utilisation(work, "direct") == pytest.approx(0.9, rel=0.02)
    found = json.loads((work / "runs/triangle/latest/summary.json").read_text())
    (flow,) = found["flows"]
    assert (flow["from"], flow["to"], flow["simulated"]) == ("r", "s", True)
    # The wire of the link, and one packet's time on it: 1,514 bytes at 10 Mbit/s.
    assert flow["delay"]["p50_ns"] == pytest.approx(9e6 + 1514 * 800, rel=0.01)


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("{link: rest, load: 50%}", '"rest" has no rate'),
        (
            "{link: dirct, load: 50%}",
            'there is no link "dirct"',
        ),
        ("{link: direct, load: 0%}", "the load is zero"),
        ("{link: direct, load: 120%}", "120%"),
        ("{link: direct, load: 50%, from: a}", 'no key "from"'),
        ("{link: direct, load: 50%, size: 70kB}", "does not fit a datagram"),
    ],
)
def test_wrong_background_is_said(traffic: str, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        resolved("  p: " + traffic.replace("{", "{kind: background, "))
    assert message in str(refused.value)
    assert "traffic.p" in str(refused.value)


def test_two_links_between_the_same_ends_cannot_both_have_load() -> None:
    names = {"p": "direct", "q": "twin"}
    loads = [f"  {name}: {{kind: background, link: {link}, load: 1%}}" for name, link in names.items()]
    text = TRIANGLE.format(duration="1s", traffic="\n".join(loads)).replace(
        "links:\n", "links:\n  twin: {endpoints: [r, s], rate: 1Gbit, delay: 7ms}\n"
    )
    with pytest.raises(ScenarioError, match='over "direct"'):
        resolve(parse_scenario(text.encode(), name="t.yaml"))
