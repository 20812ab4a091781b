"""What a simulated run measures of links and flows, against arithmetic."""

import json
from pathlib import Path
from statistics import mean

import pyarrow.parquet as pq
import pytest
from embedded import embedded_charts

from .conftest import Command

SHARED = """
version: 1
name: shared
seed: 3
duration: {duration}
nodes:
  a1..3: {{kind: host, attach: r, profile: lan}}
  b1..3: {{kind: host, attach: s, profile: lan}}
  r: {{kind: router}}
  s: {{kind: router}}
profiles: {{lan: {{delay: 10us, rate: 1Gbit}}}}
links: {{wan: {{endpoints: [r, s], delay: 5ms, rate: 100Mbit, queue: 1bdp, count: ethernet}}}}
traffic:
{traffic}
"""


def simulate(longhaul: Command, work: Path, traffic: str, *, duration: str = "20s", rest: str = "") -> dict:
    (work / "shared.yaml").write_text(SHARED.format(traffic=traffic, duration=duration) + rest)
    result = longhaul("sim", "shared.yaml")
    assert result.returncode == 0, result.stdout + result.stderr
    found: dict = json.loads((work / "runs/shared/latest/summary.json").read_text())
    return found


def test_a_link_is_used_as_much_as_is_offered_to_it(longhaul: Command, work: Path) -> None:
    # 1,000 bytes of payload are 1,066 on an Ethernet: 53.3 Mbit/s of 100, later of 80, later of all.
    found = simulate(
        longhaul,
        work,
        "  even: {kind: udp, from: a1, to: b1, rate: 50Mbit, size: 1000B}\n",
        duration="9s",
        rest="""
events:
  - {at: 3s, link: wan, set: {rate: 80Mbit}}
  - {at: 6s, link: wan, set: {rate: 53Mbit}}
expect:
  - {metric: links.wan.forward.utilisation, min: 68%, max: 70%}
  - {metric: links.wan.reverse.utilisation, max: 0%}
  - {metric: flows.even.throughput, min: 49.9Mbit, max: 50.1Mbit}
""",
    )
    (wan,) = (link for link in found["links"] if (link["name"], link["way"]) == ("wan", "forward"))
    carried = 53.3 * 6 + 53.0 * 3
    assert wan["achieved"]["utilisation"] == pytest.approx(carried / (100 + 80 + 53) / 3, rel=1e-3)
    table = pq.read_table(work / "runs/shared/latest/links.parquet").to_pydict()
    over_time = {
        round(t_s, 1): used
        for t_s, used, link, way in zip(
            *(table[column] for column in ("t_s", "utilisation", "link", "way")), strict=True
        )
        if (link, way) == ("wan", "forward")
    }
    assert over_time[2.0] == pytest.approx(0.533, rel=0.01)
    assert over_time[5.0] == pytest.approx(53.3 / 80, rel=0.01)
    assert over_time[8.0] == pytest.approx(1, rel=0.01)
    assert {"utilisation", "queueing-delays"} <= set(embedded_charts(work / "runs/shared/latest"))


def test_a_burst_waits_for_itself(longhaul: Command, work: Path) -> None:
    # Of two streams a packet each comes at one time, and one waits for the other's 1,066 bytes.
    streams = "".join(
        f"  s{n}: {{kind: udp, from: a{n}, to: b{n}, rate: 8Mbit, size: 1000B}}\n" for n in (1, 2)
    )
    found = simulate(longhaul, work, streams, duration="2s")
    (wan,) = (link for link in found["links"] if (link["name"], link["way"]) == ("wan", "forward"))
    waits = wan["queueing_delay"]
    assert waits["count"] == wan["packets"]["offered"]
    assert waits["cdf"][0] == [0, pytest.approx(0.5, abs=1e-3)]
    assert waits["p90_ns"] == waits["max_ns"] == 85_280
    assert waits["mean_ns"] == pytest.approx(85_280 / 2, rel=1e-3)


def test_transfers_one_after_the_other_are_done_sooner_than_side_by_side(
    longhaul: Command, work: Path
) -> None:
    def transfers(second_start: str) -> dict:
        flows = "".join(
            f"  t{n}: {{kind: tcp, from: a{n}, to: b{n}, bytes: 50MB, start: {start}, cc: reno}}\n"
            for n, start in ((1, "0s"), (2, second_start))
        )
        return simulate(longhaul, work, flows, duration="60s")["transfers"]

    # 50 MB of payload at 100 Mbit/s of Ethernet frames: 1,448 of 1,538 bytes.
    alone_ns = 50e6 * 8 / 100e6 * 1538 / 1448 * 1e9
    shared, in_turn = transfers("0s"), transfers("5s")
    assert shared["ingress_bits_per_s"] == 100_000_000
    assert alone_ns < in_turn["f1_ns"] < 1.1 * alone_ns
    assert 1.9 * alone_ns < shared["f1_ns"] < 2.2 * alone_ns
    assert 0.9 * 1448 / 1538 < shared["f2"] < 1448 / 1538
    assert shared["f2"] == pytest.approx(100e6 / 12.5e6 / (shared["f1_ns"] / 1e9), rel=1e-6)
    assert 0.75 < in_turn["f2"] < shared["f2"]
    assert 1.7 < in_turn["f2_literal"] < 2 * 1448 / 1538


def test_a_greedier_algorithm_steals_bandwidth(longhaul: Command, work: Path) -> None:
    flows = "  x1: {kind: tcp, from: a1, to: b1, cc: reno}\n  x2: {kind: tcp, from: a2, to: b2, cc: reno}\n"
    flows += "  noise: {kind: udp, from: a1, to: b2, rate: 10Mbit, arrivals: poisson}\n"
    sixth = "  sixth: {kind: tcp, from: a3, to: b3, cc: {algorithm: multcp, flows: $as_many}}\n"
    text = SHARED.format(traffic=flows + sixth, duration="30s") + "params: {as_many: 1}\n"
    (work / "shared.yaml").write_text(text)
    for as_many in ("1", "8"):
        for seed in ("1", "2", "3"):
            settings = ("--set", f"as_many={as_many}", "--seed", seed, "--runs", f"as-{as_many}")
            result = longhaul("sim", "shared.yaml", *settings, "--no-report")
            assert result.returncode == 0, result.stderr
    arguments = ("compare", "as-1/shared", "as-8/shared", "--flow", "sixth")
    stolen = json.loads(longhaul(*arguments, "--json").stdout)["stolen"]
    # Eight in one take more than one: how much, is in the runs.
    had, has = (
        mean(
            sum(flow["goodput_bits_per_s"] for flow in json.loads(run.read_text())["flows"][:3])
            for run in (work / runs / "shared").glob("2*/summary.json")
        )
        for runs in ("as-1", "as-8")
    )
    assert has < 0.7 * had
    assert stolen["share"] == pytest.approx((had - has) / had)
    assert 0 < stolen["half_width"] < 0.1
    assert stolen["base"]["runs"] == stolen["variant"]["runs"] == 3
    text = longhaul(*arguments).stdout
    assert "sixth stole" in text
    assert max(map(len, text.splitlines())) <= 80
    result = longhaul("compare", "as-1/shared", "as-8/shared", "--flow", "seventh")
    assert result.returncode == 2
    assert 'there is no flow "seventh"' in result.stderr
    assert "noise, sixth, x1, x2" in result.stderr
