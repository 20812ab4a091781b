"""Figures that one can drag into: the points behind them, and that a report needs nobody else for it."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import longhaul
from longhaul.report import zoom
from longhaul.report.zoom import _kept

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "python" / "longhaul" / "report" / "uplot"
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


def told(run: Path, label: str) -> dict:
    """The points of the figure whose panels have this label."""
    page = (run / "report.html").read_text()
    found = re.findall(re.escape(zoom.MARK) + r"(.*?)</script>", page, re.DOTALL)
    return next(each for each in map(json.loads, found) if each["panels"][0]["y"] == label)


def test_points_are_those_of_the_table(run: Path) -> None:
    shown = told(run, "throughput [Mbit/s]")
    (panel,) = shown["panels"]
    series = next(each for each in panel["series"] if each["label"] == "a > b")
    samples = pq.read_table(run / "links.parquet", filters=[("way", "==", "forward")]).to_pydict()
    assert shown["xs"][series["x"]] == pytest.approx(samples["t_s"], rel=1e-5)
    assert series["y"] == pytest.approx([rate / 1e6 for rate in samples["throughput_bits_per_s"]], rel=1e-5)
    assert (series["colour"], series["draw"]) == ("--c1", "before")
    assert [each["y"] for each in panel["levels"]] == [10]


def test_lost_pings_are_gaps_and_marks_at_the_foot(run: Path) -> None:
    (panel,) = told(run, "RTT [ms]")["panels"]
    (series,) = panel["series"]
    lost = series["y"].count(None)
    assert lost > 0
    assert [len(each["x"]) for each in panel["feet"]] == [lost]
    assert series["draw"] == "dots"


def test_a_report_asks_nobody(run: Path) -> None:
    page = (run / "report.html").read_text()
    assert not re.findall(
        r"""(?:src|href)\s*=\s*["'](?!data:|#)[^"']*""",
        re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL),
    )
    assert "<link" not in page
    assert not re.findall(r"\b(?:fetch|XMLHttpRequest|import)\b", page.partition("<body>")[2])
    assert "Copyright (c) 2022 Leon Sorokin" in page


def test_uplot_is_the_one_that_the_page_is_locked_to() -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    version = lock["packages"]["node_modules/uplot"]["version"]
    script = (ASSETS / "uPlot.iife.min.js").read_text()
    assert f"(v{version})" in script.splitlines()[0], "run: cd web && npm ci && npm run build"
    published = ROOT / "web" / "node_modules" / "uplot"
    if published.is_dir():
        assert script == (published / "dist" / "uPlot.iife.min.js").read_text()
        assert (ASSETS / "uPlot.min.css").read_text() == (published / "dist" / "uPlot.min.css").read_text()
        assert (ASSETS / "LICENSE").read_text() == (published / "LICENSE").read_text()


@given(arrays(float, st.integers(1, 400), elements=st.floats(-1e6, 1e6)), st.integers(100, 300))
def test_thinning_keeps_every_peak_and_every_dip(values: np.ndarray, most: int) -> None:
    kept = _kept(values, most)
    assert len(kept) <= most + 3
    assert values[kept].max() == values.max()
    assert values[kept].min() == values.min()
    assert kept[0] == 0
    assert (np.diff(kept) > 0).all()
