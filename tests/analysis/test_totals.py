"""Totals over all flows, the unit of Jain's index, and metrics in words."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import longhaul
from longhaul.analysis.metric_text import metric_text
from longhaul.analysis.metrics import metrics
from longhaul.analysis.totals import totals
from longhaul.errors import LonghaulError
from longhaul.report.scales import scale
from longhaul.scenario.model.metrics import bound, unit_of
from longhaul.units.text import quantity_text

TEXT = """\
version: 1
name: two
duration: 3s
nodes: {a1..2: {kind: host, attach: r}, r: {kind: router}, b: {kind: host}}
links: {wan: {endpoints: [r, b], delay: 5ms, rate: 10Mbit}}
traffic:
  one: {kind: tcp, from: a1, to: b}
  other: {kind: tcp, from: a2, to: b}
expect: [{metric: total.goodput, min: 8 Mbit, max: 10 Mbit}, {metric: fairness.jain, min: 0.5}]
"""


def test_the_total_goodput_is_the_sum_over_flows_that_have_one() -> None:
    flows = [{"goodput_bits_per_s": each} for each in (1e6, None, 2.5e6)]
    assert totals(flows) == {"goodput_bits_per_s": 3.5e6, "flows": 3}
    assert totals(flows[:1]) is None


def test_a_run_has_the_total_in_metrics_expectations_and_report(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TEXT)
    result = longhaul.run_sim(tmp_path / "two.yaml", runs=tmp_path / "runs")
    one, other = (metrics(result.summary)[f"flows.{name}.goodput"] for name in ("one", "other"))
    assert metrics(result.summary)["total.goodput"] == pytest.approx(one + other)
    assert [each["met"] for each in result.summary["expectations"]] == [True, True]
    assert "Total goodput: " in (result.directory / "report.html").read_text()


def test_a_sweep_measures_the_total(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TEXT)
    swept = longhaul.sweep(
        tmp_path / "two.yaml",
        axes={"links.wan.rate": ["5Mbit", "10Mbit"]},
        metrics=("total.goodput",),
        runs=tmp_path / "runs",
        report=False,
    )
    rows = pq.read_table(swept.directory / "summary.parquet").to_pylist()
    assert [each["mean"] / 1e6 for each in rows] == [pytest.approx(4.7, abs=0.3), pytest.approx(9.4, abs=0.6)]


def test_a_scenario_with_one_flow_has_no_total(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(TEXT.replace("  other: {kind: tcp, from: a2, to: b}\n", ""))
    with pytest.raises(LonghaulError, match=r"flows\.one\.goodput"):
        longhaul.run_sim(tmp_path / "one.yaml", runs=tmp_path / "runs")


def test_jains_index_is_a_number_not_a_share() -> None:
    unit = unit_of("fairness.jain")
    assert (unit, quantity_text(0.98765, unit), scale(unit, [0.9])) == ("index", "0.988", (1.0, ""))
    assert bound("0.9", unit) == 0.9


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("flows.bulk.rtt.p50", "median RTT of flow bulk"),
        ("flows.bulk.nyc1.goodput", "goodput of flow bulk.nyc1"),
        ("links.wan.forward.queueing_delay.p99", "p99 queueing delay of link wan, forward"),
        ("probes.ping.far.rtt.min", "minimum RTT of pings ping to far"),
        ("programs.solver.wall_time", "wall time of program solver"),
        ("fairness.jain", "Jain's fairness index"),
        ("total.goodput", "total goodput"),
        ("unheard.of", "unheard.of"),
    ],
)
def test_axes_name_metrics_in_words(metric: str, words: str) -> None:
    assert metric_text(metric) == words
