"""Flows that share a bottleneck: who is shown together, with which index, in which colour."""

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from embedded import embedded_charts, panels

import longhaul
from longhaul.cli.figures import write_files
from longhaul.report.colours import SERIES
from longhaul.report.sharing_figures import colours

SCENARIO = """
version: 1
name: shared
seed: 5
duration: 8s
nodes:
  r: {kind: router}
  s: {kind: router}
  a1..4: {kind: host, attach: r}
  b1..4: {kind: host, attach: s}
links: {wan: {endpoints: [r, s], delay: 5ms, rate: 10Mbit, queue: 1bdp}}
traffic:
  one: {kind: tcp, from: a1, to: b1, cc: reno, stop: 5s}
  two: {kind: tcp, from: a2, to: b2, cc: cubic, flows: 2, stop: 5s}
  later: {kind: tcp, from: a4, to: b4, cc: cubic, start: 6s}
  other: {kind: tcp, from: b3, to: a3, cc: reno}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sharing")
    (place / "shared.yaml").write_text(SCENARIO)
    directory = longhaul.run_sim(place / "shared.yaml", runs=place / "runs").directory
    write_files(directory, ["csv"])
    return directory


def rows(run: Path, name: str) -> list[dict[str, str]]:
    with (run / "figures" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_bars_are_the_goodput_of_the_streams_that_ran_together(run: Path) -> None:
    flows = {each["flow"]: each for each in json.loads((run / "summary.json").read_text())["flows"]}
    assert flows["one"]["bottleneck"] == {"link": "wan", "way": "forward"}
    assert flows["other"]["bottleneck"] == {"link": "wan", "way": "reverse"}
    bars = {row["series"]: float(row["x"]) for row in rows(run, "fairness") if row["panel"] != "1"}
    wanted = {
        "one (reno)": flows["one"]["stream_rates"][0],
        "two.0 (cubic)": flows["two"]["stream_rates"][0],
        "two.1 (cubic)": flows["two"]["stream_rates"][1],
    }
    # Neither who came later, nor who went the other way.
    assert bars == pytest.approx({name: rate / 1e6 for name, rate in wanted.items()})
    rates = list(wanted.values())
    index = sum(rates) ** 2 / (3 * sum(rate**2 for rate in rates))
    (title,) = {row["panel"] for row in rows(run, "fairness")}
    assert f"{index:.3f} over 3 streams" in title
    assert f"{index:.3f} over 3 streams" in (run / "report.html").read_text()


def test_a_stream_has_one_colour_in_all_figures(run: Path) -> None:
    drawn = embedded_charts(run)

    def colours_of(name: str) -> list[str]:
        return [each["colour"] for panel in panels(drawn[name]) for each in panel["series"]]

    assert colours_of("fairness") == ["--c1", "--c2", "--c3"]
    assert colours_of("stacked")[:3] == ["--c1", "--c2", "--c3"]
    assert colours_of("windows") == [f"--c{number}" for number in (1, 2, 3, 4, 5)]


def test_one_flow_alone_shares_with_nobody(tmp_path: Path) -> None:
    (tmp_path / "alone.yaml").write_text(
        re.sub(r"  (two|later|other):.*\n", "", SCENARIO).replace("name: shared", "name: alone")
    )
    directory = longhaul.run_sim(tmp_path / "alone.yaml", runs=tmp_path / "runs").directory
    assert "share a bottleneck" not in (directory / "report.html").read_text()


def test_many_streams_have_the_colour_of_their_flow() -> None:
    def flow(name: str, streams: int) -> dict:
        return {"flow": name, "kind": "tcp", "stream_rates": [1.0] * streams}

    few = colours([flow("one", 3), flow("two", 5)])
    assert len(set(few.values())) == 8
    many = colours([flow("one", 3), flow("two", 6)])
    assert {many["one", 0], many["one", 2]} == {SERIES[0]}
    assert {many["two", 0], many["two", 5]} == {SERIES[1]}


def test_drops_of_a_queue_are_marked_under_its_length(run: Path) -> None:
    with (run / "figures/queues.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["panel"].startswith("wan")]
    marked = [float(row["x"]) for row in rows if row["series"] == "dropped by the queue"]
    assert marked
    samples = pq.read_table(run / "links.parquet", filters=[("link", "==", "wan")]).to_pylist()
    dropped = {each["t_s"] for each in samples if each["overflowed_packets"] + each["dropped_packets"]}
    assert marked == sorted(dropped)
    assert {float(row["x"]) for row in rows if row["series"] == "r > s"} > dropped
