"""The numbers behind figures: every figure of every report as tidy rows with names, units and intervals."""

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import longhaul
from longhaul.cli.figures import write_files
from longhaul.report import comparison_page, fitting_charts
from longhaul.report.files import write_charts
from longhaul.report.points import HEADER

RICH = """
version: 1
name: rich
duration: 3s
params: {cc: reno, loss: 1%}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit, loss: $loss, queue: 20p}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: $cc, flows: 2}
  noise: {kind: udp, from: a, to: b, rate: 2Mbit, arrivals: poisson}
  probe: {kind: ping, from: a, to: b, every: 20ms}
  web: {kind: requests, from: a, to: b, gap: 200ms, size: 20kB}
events: [{at: 1s, link: wan, set: {rate: 8Mbit}}]
measure: {packets: {links: [wan]}, monitor: {links: [wan], every: 10ms}}
sweep: {axes: {cc: [reno, cubic], loss: [0.5%, 1%, 2%]}, repeat: 3, metrics: [flows.bulk.goodput]}
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("points") / "rich.yaml"
    path.write_text(RICH)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    assert tuple(reader.fieldnames or ()) == HEADER
    return rows


def assert_tidy(paths: list[Path]) -> None:
    assert paths
    for path in paths:
        rows = read(path)
        assert rows, f"{path.name} is empty"
        for row in rows:
            assert row["series"], f"{path.name} has rows without a name"
            assert not row["series"].startswith(("series ", "_")), f"{path.name}: {row['series']}"
            assert row["x"], path.name
            assert row["x_name"] or row["x_unit"], path.name
            assert (
                row["y"]
                or row["lower"]
                or row["series"] in ("no reply", "did not leave", "retransmission", "dropped by the queue")
            )
            for low, high in (("lower", "upper"), ("x_lower", "x_upper")):
                assert bool(row[low]) == bool(row[high])
                if row[low]:
                    assert float(row[low]) <= float(row[high])


def test_every_figure_of_a_run_has_named_rows(scenario: Path, tmp_path: Path) -> None:
    run = longhaul.run_sim(scenario, runs=tmp_path)
    paths = write_files(run.directory, ["csv"])
    assert {"throughput", "monitor", "fairness"} <= {path.stem for path in paths}
    assert_tidy(paths)


def test_lines_of_a_sweep_have_their_means_and_intervals(scenario: Path, tmp_path: Path) -> None:
    swept = longhaul.sweep(scenario, runs=tmp_path)
    paths = write_files(swept.directory, ["csv"])
    assert_tidy(paths)
    (lines,) = [path for path in paths if not path.stem.endswith("map")]
    table = {
        (row["axis_cc"], row["axis_loss_share"]): row
        for row in pq.read_table(swept.directory / "summary.parquet").to_pylist()
    }
    rows = read(lines)
    assert len(rows) == len(table) == 6
    for row in rows:
        found = table[row["series"], round(float(row["x"]) / 100, 9)]
        assert (row["x_name"], row["x_unit"], row["y_name"]) == ("loss", "%", "goodput of flow bulk")
        factor = {"Mbit/s": 1e6, "kbit/s": 1e3}[row["y_unit"]]
        ends = [found["mean"] + sign * found["half_width"] for sign in (0, -1, 1)]
        assert [float(row[key]) * factor for key in ("y", "lower", "upper")] == pytest.approx(ends)


def test_a_mean_without_an_interval_has_no_bounds(scenario: Path, tmp_path: Path) -> None:
    swept = longhaul.sweep(scenario, repeat=1, runs=tmp_path)
    for path in write_files(swept.directory, ["csv"]):
        assert all(row["lower"] == row["upper"] == "" for row in read(path))


def test_axes_with_names_have_words_instead_of_places(scenario: Path, tmp_path: Path) -> None:
    swept = longhaul.sweep(scenario, axes={"loss": ["1%"], "cc": ["reno", "cubic", "htcp"]}, runs=tmp_path)
    lines, heat_map = write_files(swept.directory, ["csv"])
    assert heat_map.stem == f"{lines.stem}-map"
    rows = read(lines)
    assert {(row["x"], row["x_name"]) for row in rows} == {(cc, "cc") for cc in ("reno", "cubic", "htcp")}


def test_figures_of_comparisons_and_fits_have_named_rows(scenario: Path, tmp_path: Path) -> None:
    reno, cubic = (
        [longhaul.run_sim(scenario, seed=seed, params={"cc": cc}, runs=tmp_path / cc) for seed in (1, 2)]
        for cc in ("reno", "cubic")
    )
    compared = longhaul.compare(reno, cubic)
    charts = comparison_page.charts(compared.sides, first=["flows.*"])
    assert [chart.name for chart in charts] == ["metrics", "over-time", "distributions"]
    assert_tidy(write_charts(charts, tmp_path / "compared", ["csv"]))
    gaps = np.random.default_rng(1).weibull(0.8, 200)
    fitted = longhaul.fit(gaps, families=["weibull", "exponential"], replicates=0)
    assert_tidy(write_charts(fitting_charts.charts(fitted.fits, "s"), tmp_path / "fit", ["csv"]))
