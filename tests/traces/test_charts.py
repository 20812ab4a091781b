"""The chart of traces: gaps, mean and distribution; and its file in each format."""

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from longhaul.cli.main import longhaul
from longhaul.errors import LonghaulError
from longhaul.scenario.traces import Trace
from longhaul.traces.charts import MOST_LINES, trace_chart

GAP = "t_s,rtt_ms\n0,10\n1,20\n2,\n3,15\n"


def plot(path: Path, out: str) -> None:
    arguments = ["trace", "plot", str(path), "--out", str(path.parent / out)]
    done = CliRunner().invoke(longhaul, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.fixture
def gapped(tmp_path: Path) -> Path:
    path = tmp_path / "wan.csv"
    path.write_text(GAP)
    return path


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_chart_is_written_in_each_format(gapped: Path, kind: str) -> None:
    plot(gapped, f"wan-chart.{kind}")
    assert (gapped.parent / f"wan-chart.{kind}").stat().st_size > 1000


def test_the_points_are_written_as_csv(gapped: Path) -> None:
    plot(gapped, "points.csv")
    rows = list(csv.DictReader((gapped.parent / "points.csv").open()))
    over_time = [(float(row["x"]), float(row["y"])) for row in rows if row["x_name"] == "time"]
    # The value of the last row holds as long as that of the one before; the gap has no points.
    assert over_time == [(0, 10), (1, 20), (3, 15), (4, 15)]
    assert {row["x_name"] for row in rows} == {"time", "share below"}


def test_another_format_is_refused_and_leaves_nothing(gapped: Path) -> None:
    with pytest.raises(LonghaulError, match=r"ends in none of \.svg, \.pdf, \.png, \.csv"):
        plot(gapped, "wan.gif")
    assert [each.name for each in gapped.parent.iterdir()] == ["wan.csv"]


def trace(*values: float | None) -> Trace:
    return Trace(times_s=tuple(range(len(values))), columns={"rtt_ms": values})


def test_the_mean_is_of_known_values_and_half_of_them_are_below_the_median() -> None:
    (_time, shares), *_ = trace_chart([trace(10, None, 30, 20)], title="t").rows
    assert [level.at for level in shares.levels] == [20]
    (series,) = shares.series
    assert np.interp(0.5, series.x, series.y) == pytest.approx(15, abs=5)
    assert (series.x[0], series.x[-1], series.y[-1]) == (0, 1, 30)


def test_more_traces_than_colours_are_refused() -> None:
    with pytest.raises(LonghaulError, match="too many"):
        trace_chart([trace(1, 2)] * (MOST_LINES + 1), title="t")
