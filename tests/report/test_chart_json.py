"""Charts in a report: the data behind them, and that a report needs nothing else to draw them."""

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from embedded import column as decoded
from embedded import embedded_charts, loads_matplotlib, panels
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import longhaul
from longhaul.report.chart import Axis, Chart, Panel, Part, Series, column
from longhaul.report.chart_json import _kept, _numbers, chart_json, embedded

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "python" / "longhaul" / "report" / "charts"
PAIR = """
version: 1
name: pair
duration: 2s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit, loss: 5%}}
traffic:
  load: {kind: udp, from: a, to: b, rate: 5Mbit}
  probe: {kind: ping, from: a, to: b, every: 20ms}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("zoom")
    (place / "pair.yaml").write_text(PAIR)
    return longhaul.run_sim(place / "pair.yaml", runs=place / "runs").directory


def test_points_are_those_of_the_table(run: Path) -> None:
    shown = embedded_charts(run)["throughput"]
    (panel,) = panels(shown)
    series = next(each for each in panel["series"] if each["name"] == "a > b")
    samples = pq.read_table(run / "links.parquet", filters=[("way", "==", "forward")]).to_pydict()
    assert shown["xs"][series["x"]] == pytest.approx(samples["t_s"], rel=1e-5)
    assert series["y"] == pytest.approx([rate / 1e6 for rate in samples["throughput_bits_per_s"]], rel=1e-5)
    assert (series["colour"], series["kind"]) == ("--c1", "steps-before")
    assert [each["at"] for each in panel["levels"]] == [10]


def test_lost_pings_are_gaps_and_marks_at_the_foot(run: Path) -> None:
    (panel,) = panels(embedded_charts(run)["round-trips"])
    (series,) = panel["series"]
    lost = series["y"].count(None)
    assert lost > 0
    assert [len(each["x"]) for each in panel["feet"]] == [lost]
    assert series["kind"] == "dots"


def test_the_report_of_a_simulation_needs_no_matplotlib(run: Path) -> None:
    assert not loads_matplotlib(
        f"from longhaul.report.html import write_report; write_report(Path({str(run)!r}))"
    )


def test_the_report_of_a_sweep_needs_no_matplotlib(tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(
        f"{PAIR}sweep: {{axes: {{links.wan.loss: [1%, 2%, 5%]}}, repeat: 2}}\n"
    )
    swept = longhaul.sweep(tmp_path / "pair.yaml", runs=tmp_path / "runs")
    assert not loads_matplotlib(
        "from longhaul.sweeps.page import write_sweep_report\n"
        f"write_sweep_report(Path({str(swept.directory)!r}))"
    )
    assert {"flows.load.goodput", "flows.load.goodput-map"} <= set(embedded_charts(swept.directory))


def test_the_report_of_fits_needs_no_matplotlib(tmp_path: Path) -> None:
    assert not loads_matplotlib(
        "from longhaul.analysis.fitting import fit_gaps; from longhaul.analysis.gaps import Gaps\n"
        "from longhaul.report.fitting_page import write_fitting\n"
        "gaps = Gaps(np.random.default_rng(1).weibull(0.8, 200), 's', 'gaps')\n"
        "fits = fit_gaps(gaps.values, replicates=0)\n"
        f"write_fitting(Path({str(tmp_path / 'report.html')!r}), gaps, fits, ())"
    )
    assert list(embedded_charts(tmp_path)) == ["survival", "probabilities", "quantiles"]


def test_panels_of_one_axis_move_together_and_reach_as_far_as_all_of_them() -> None:
    time, other = Axis("time [s]"), Axis("time [ms]")

    def panel(axis: Axis, *x: float) -> Panel:
        return Panel("", axis, Axis("y"), [Series("s", "longhaul:1", np.array(x), np.zeros(len(x)))])

    made = chart_json(
        Chart("c", "c", [(panel(time, 1, 2), panel(other, 5, 9)), (panel(time, 4), panel(other, 7))], 3.0)
    )
    assert [each["reach"] for each in made["axes"]] == [(1, 4), (5, 9)]
    assert [[each["x"] for each in row] for row in made["rows"]] == [[0, 1], [0, 1]]


def test_text_of_a_name_cannot_end_the_script() -> None:
    panel = Panel("</script><b>", Axis("x"), Axis("y"))
    assert "<" not in embedded(Chart("c", "c", column([panel]), 3.0)).text


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50), st.integers(0, 10**6))
def test_whole_steps_lose_nothing(instants: list[int], took: int) -> None:
    x = np.array(sorted(instants)) / 1e6
    y = np.arange(1.0, len(x) + 1) * 1.448
    strokes = Series("s", "longhaul:1", x, y, kind="strokes", low=y - 1.448, to_x=x + took / 1e6)
    panel = Panel("", Axis("x", step=1e-6), Axis("y", step=1e-3), [strokes], part=Part(0, 1, "a part"))
    made = chart_json(Chart("c", "c", column([panel]), 3.0))
    (series,) = panels(made)[0]["series"]
    assert decoded(made["xs"][series["x"]]) == pytest.approx(x, abs=1e-9)
    assert decoded(series["y"]) == pytest.approx(y)
    assert decoded(series["height"]) == pytest.approx(np.full(len(x), 1.448))
    assert decoded(series["width"]) == pytest.approx(np.full(len(x), took / 1e6))


@given(
    arrays(
        float, st.integers(0, 50), elements=st.floats(-1e18, 1e18, allow_subnormal=False) | st.just(np.nan)
    )
)
@example(np.array([2.47586871e-25]))
def test_numbers_have_six_digits(values: np.ndarray) -> None:
    for value, shown in zip(values, _numbers(values), strict=True):
        if np.isnan(value):
            assert shown is None
        else:
            assert shown is not None
            assert shown == pytest.approx(value, rel=5.1e-6, abs=5.1e-23)
            if abs(value) > 1e-16:
                assert len(repr(abs(shown)).replace(".", "").partition("e")[0].strip("0")) <= 6


def test_a_report_asks_nobody(run: Path) -> None:
    page = (run / "report.html").read_text()
    assert not re.findall(
        r"""(?:src|href)\s*=\s*["'](?!data:|#)[^"']*""",
        re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL),
    )
    assert "<link" not in page
    assert not re.findall(r"\b(?:fetch|XMLHttpRequest|import)\b", page.partition("<body>")[2])
    assert "Copyright (c) 2022 Leon Sorokin" in page


def test_the_script_has_the_licence_of_uplot() -> None:
    published = ROOT / "web" / "node_modules" / "uplot" / "LICENSE"
    if published.is_file():
        assert (ASSETS / "LICENSE").read_text() == published.read_text(), "run: cd web && npm run build"


@given(arrays(float, st.integers(1, 400), elements=st.floats(-1e6, 1e6)), st.integers(100, 300))
def test_thinning_keeps_every_peak_and_every_dip(values: np.ndarray, most: int) -> None:
    kept = _kept(values, most)
    assert len(kept) <= most + 3
    assert values[kept].max() == values.max()
    assert values[kept].min() == values.min()
    assert kept[0] == 0
    assert (np.diff(kept) > 0).all()
