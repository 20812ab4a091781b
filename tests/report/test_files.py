"""Figures as files: in every format, in the colours of the report, and with the numbers that were drawn."""

import base64
import csv
import gzip
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from embedded import embedded_charts, panels

import longhaul
from longhaul.cli.figures import write_files
from longhaul.cli.main import longhaul as command
from longhaul.errors import LonghaulError
from longhaul.report import colours, comparison_page, html
from longhaul.report.chart import Axis, Chart, Panel, Series
from longhaul.report.files import write_charts
from longhaul.report.formats import FORMATS

ROOT = Path(__file__).parents[2]
PAIR = """
version: 1
name: pair
duration: 2s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic: {load: {kind: udp, from: a, to: b, rate: 5Mbit}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("files")
    (place / "pair.yaml").write_text(PAIR)
    return longhaul.run_sim(place / "pair.yaml", runs=place / "runs").directory


def test_every_figure_is_a_file_in_every_format(run: Path) -> None:
    written = {path.name for path in write_files(run, FORMATS)}
    assert {f"throughput.{kind}" for kind in FORMATS} <= written
    assert written == {path.name for path in (run / "figures").iterdir()}
    for magic, kind in ((b"%PDF", "pdf"), (b"\x89PNG", "png"), (b"<?xml", "svg")):
        assert all(path.read_bytes().startswith(magic) for path in run.glob(f"figures/*.{kind}"))


def test_files_have_colours_and_the_page_has_variables(run: Path) -> None:
    write_files(run, ["svg"])
    drawing = (run / "figures/throughput.svg").read_text()
    assert colours.LIGHT[colours.SERIES[0]] in drawing
    assert "var(" not in drawing
    assert not re.findall(r"#a100[0-9a-f]{2}", drawing)
    (panel,) = panels(embedded_charts(run)["throughput"])
    assert panel["series"][0]["colour"] == "--c1"


def test_points_are_those_of_the_table(run: Path) -> None:
    write_files(run, ["csv"])
    with (run / "figures/throughput.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["series"] == "a > b"]
    assert {(row["y_name"], row["y_unit"]) for row in rows} == {("throughput", "Mbit/s")}
    # 5 Mbit/s of payload; headers come on top.
    middle = [float(row["y"]) for row in rows if 0.5 <= float(row["x"]) <= 1.5]
    assert all(5.0 < rate < 5.3 for rate in middle), middle
    samples = pq.read_table(run / "links.parquet", filters=[("way", "==", "forward")])
    assert len(rows) in (len(samples), len(samples) - 1)


def test_the_command_names_what_it_wrote(run: Path) -> None:
    result = CliRunner().invoke(command, ["report", str(run), "--format", "pdf"])
    assert result.exit_code == 0, result.output
    assert str(run / "figures/throughput.pdf") in result.output.splitlines()
    refused = CliRunner().invoke(command, ["report", str(run), "--format", "tiff"])
    assert refused.exit_code == 2
    assert "svg" in refused.output


def test_figures_are_listed_and_written_by_their_names(run: Path) -> None:
    listed = CliRunner().invoke(command, ["report", str(run), "--list-figures"], catch_exceptions=False)
    names = [line.split()[0] for line in listed.output.splitlines()]
    assert names == [chart.name for chart in html.charts(run)]
    shutil.rmtree(run / "figures", ignore_errors=True)
    done = CliRunner().invoke(
        command, ["report", str(run), "--figure", "packet_delays", "--figure", "throughput"]
    )
    assert done.exit_code == 0, done.output
    assert sorted(each.name for each in (run / "figures").iterdir()) == [
        "packet-delays.pdf",
        "throughput.pdf",
    ]
    with pytest.raises(LonghaulError, match=r'no figure "thruput" here; there are: .*throughput'):
        CliRunner().invoke(command, ["report", str(run), "--figure", "thruput"], catch_exceptions=False)


def test_the_catalogue_has_every_figure_of_runs_and_comparisons(run: Path) -> None:
    text = (ROOT / "docs/reference/figures.md").read_text()
    parts = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    names = {title: re.findall(r"^\| `([a-z-]+)` \|", body, re.MULTILINE) for title, body in parts.items()}
    assert names["Of a run"] == [name.replace("_", "-") for name in html.drawings(run)]
    assert names["Of a comparison"] == [name.replace("_", "-") for name in comparison_page.drawings([], [])]


def test_tables_in_the_report_are_those_beside_it(run: Path) -> None:
    page = (run / "report.html").read_text()
    packed = re.search(r'download="links.csv.gz" href="data:application/gzip;base64,([^"]*)"', page)
    assert packed is not None
    text = gzip.decompress(base64.b64decode(packed.group(1))).decode()
    rows = list(csv.DictReader(text.splitlines()))
    table = pq.read_table(run / "links.parquet").to_pydict()
    assert [float(row["throughput_bits_per_s"]) for row in rows] == table["throughput_bits_per_s"]


def test_an_area_has_the_value_of_each_interval(tmp_path: Path) -> None:
    """Its outline has two values at each time: where one interval ends, and where the next begins."""
    x, low, high = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]), np.array([5.0, 3.0, 4.0])
    area = Series("bulk", colours.SERIES[0], x, high, kind="area", low=low)
    panel = Panel("", Axis("time [s]"), Axis("carried [Mbit/s]"), [area])
    chart = Chart("stacked", "stacked", [[panel]], 3.0)
    (path,) = write_charts([chart], tmp_path, ("csv",))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [tuple(float(row[name]) for name in ("x", "lower", "upper")) for row in rows] == [
        (0, 0, 5),
        (1, 2, 3),
        (2, 1, 4),
    ]
