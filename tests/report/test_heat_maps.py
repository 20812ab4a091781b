"""Maps of sweeps: which axes they have, what a cell says, and which variants have none."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.report.chart import Axis, Chart, Panel
from longhaul.report.chart_json import chart_json
from longhaul.report.files import write_charts
from longhaul.report.heat_map_drawing import SHADES, shade_of
from longhaul.sweeps.heat_maps import heat_map, map_axes, number_text
from longhaul.sweeps.line_charts import has_lines, line_chart

ROOT = Path(__file__).parents[2]
Row = dict[str, Any]


def rows(*sizes: int, runs: int = 3) -> list[Row]:
    """A grid over axes of so many numbers; the mean tells the place."""
    found: list[Row] = [{}]
    for place, size in enumerate(sizes):
        found = [{**row, f"axis_{place}": value} for row in found for value in range(1, size + 1)]
    for variant, row in enumerate(found):
        row |= {"variant": variant, "metric": "flows.f.done", "unit": "count", "mean": 100.0 + variant}
        row |= {"half_width": 2.5, "runs": runs}
    return found


def columns(*sizes: int) -> list[str]:
    return [f"axis_{place}" for place in range(len(sizes))]


def drawn(given: Sequence[Row], count: int) -> Chart | None:
    names = [f"name{place}" for place in range(count)]
    return heat_map(given, "flows.f.done", [f"axis_{place}" for place in range(count)], names)


def panels(given: Sequence[Row], count: int) -> list[Panel]:
    chart = drawn(given, count)
    assert chart is not None
    return list(chart.panels)


def texts(panel: Panel) -> list[str]:
    """Those of all cells, row by row."""
    return [text for series in panel.series for text in series.words]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_there_is_a_map_where_an_axis_has_two_values(sizes: list[int]) -> None:
    found = map_axes(rows(*sizes), columns(*sizes))
    count = 1
    for size in sorted(sizes)[:-2]:
        count *= size
    assert (found is not None) == (max(sizes) >= 2 and count <= 9)
    if found:
        assert {found.along, found.down, *found.panels} - {None} == set(columns(*sizes))


def test_points_drawn_at_random_fill_no_map() -> None:
    scattered = [row for row in rows(6, 6) if row["axis_0"] == row["axis_1"]]
    assert map_axes(scattered, columns(6, 6)) is None


def test_every_cell_says_its_mean_and_its_interval() -> None:
    (panel,) = panels(rows(3, 4), 2)
    # As many places as the mean has.
    assert sorted(texts(panel)) == [f"{number}\n±2" for number in range(100, 112)]


def test_words_go_down_and_numbers_along() -> None:
    named = [{**row, "axis_0": "abcd"[row["axis_0"] - 1]} for row in rows(4, 3)]
    found = map_axes(named, columns(4, 3))
    assert found is not None
    assert (found.along, found.down) == ("axis_1", "axis_0")


def test_a_variant_without_runs_has_no_cell() -> None:
    (panel,) = panels(rows(3, 3)[1:], 2)
    assert [series.x.tolist() for series in panel.series] == [[1, 2], [0, 1, 2], [0, 1, 2]]


def test_cells_without_a_mean_say_why_and_have_no_point(tmp_path: Path) -> None:
    given = rows(3, 3)
    given[4] |= {"mean": None, "half_width": None, "why": "not run yet"}
    chart = drawn(given, 2)
    assert chart is not None
    (panel,) = chart.panels
    assert texts(panel).count("not run yet") == 1
    assert [series.x.tolist() for series in panel.series] == [[0, 1, 2]] * 3
    assert panel.y.low == 100
    (path,) = write_charts([chart], tmp_path, ["csv"])
    with path.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 8
    write_charts([chart], tmp_path, ["svg"])


def test_a_map_has_all_cells_before_there_is_a_metric() -> None:
    empty = [{**row, "metric": None, "unit": "", "mean": None, "why": "not run yet"} for row in rows(3, 4)]
    chart = heat_map(empty, None, columns(3, 4), ["name0", "name1"])
    assert chart is not None
    (panel,) = chart.panels
    assert texts(panel) == ["not run yet"] * 12
    # Shades mean nothing yet.
    assert (panel.y.low, panel.y.high) == (None, None)


def test_lines_go_as_far_as_the_axis_and_through_what_is_measured() -> None:
    given = rows(5)
    for place in (1, 4):
        given[place] |= {"mean": None, "half_width": None, "why": "not run yet"}
    chart = chart_json(line_chart(given, "flows.f.done", columns(5), ["name0"]))
    low, high = chart["axes"][0]["reach"]
    assert low < 1
    assert high > 5
    (line,) = chart["rows"][0][0]["series"]
    # Points without a mean come last, where they do not interrupt the line.
    assert line["y"] == [100, 102, 103, None, None]
    assert chart["xs"][line["x"]] == [1, 3, 4, 2, 5]


def test_a_variant_with_fewer_runs_says_so() -> None:
    given = rows(3, 3)
    given[4] |= {"runs": 1, "half_width": None}
    (panel,) = panels(given, 2)
    assert "104\n1 of 3 runs" in texts(panel)
    assert sum("±" in text for text in texts(panel)) == 8


def test_other_axes_make_panels() -> None:
    assert [panel.title for panel in panels(rows(3, 3, 2), 3)] == ["name2 1", "name2 2"]


def test_a_sweep_of_one_axis_is_one_row() -> None:
    (panel,) = panels(rows(4), 1)
    assert (panel.x.names, panel.rows_of) == (("1", "2", "3", "4"), "metric")
    assert [series.name for series in panel.series] == ["completed transfers of flow f"]


@pytest.mark.parametrize("is_logarithmic", [False, True])
def test_shades_go_from_the_least_to_the_most(is_logarithmic: bool) -> None:
    axis = Axis("", is_logarithmic=is_logarithmic, low=1.0, high=1e9)
    last = len(SHADES) - 1
    assert [shade_of(value, axis) for value in (1.0, 1e9)] == [0, last]
    # 1e3 is a third of the way to 1e9 in powers of ten, and nothing of it in numbers.
    assert shade_of(1e3, axis) == (last // 3 if is_logarithmic else 0)


def test_files_and_browsers_have_the_same_shades() -> None:
    style = (ROOT / "web" / "src" / "charts" / "charts.css").read_text()
    found = re.findall(r"\.shade(\d) \{\s*background: color-mix\(in srgb, var\(--c1\) (\d+)%", style)
    assert [(int(place), int(share) / 100) for place, share in found] == [
        (place, share) for place, (share, _rest) in enumerate(SHADES)
    ]


def test_a_browser_draws_the_panels_as_tables() -> None:
    chart = drawn(rows(3, 4), 2)
    assert chart is not None
    (panel,) = chart_json(chart)["rows"][0]
    assert panel["rows_of"] == "name0"
    assert panel["series"][0]["words"][0] == "100\n±2"


@pytest.mark.parametrize(("value", "like", "said"), [(93.72, None, "93.7"), (1199.4, None, "1199")])
def test_means_have_three_digits(value: float, like: float | None, said: str) -> None:
    assert number_text(value, like=like) == said
    assert number_text(0) == "0"
    assert number_text(2e-14, like=35.2) == "0"
    assert number_text(0.004, like=93.7) == "0.004"
    assert number_text(15.33, like=93.7) == "15.3"


def test_what_a_map_shows_is_in_its_csv(tmp_path: Path) -> None:
    given = rows(3, 3)
    chart = drawn(given, 2)
    assert chart is not None
    (path,) = write_charts([chart], tmp_path, ["csv"])
    with path.open(newline="") as file:
        written = list(csv.DictReader(file))
    assert {row["y_name"] for row in written} == {"completed transfers of flow f"}
    found = {(float(row["y"]), float(row["lower"]), float(row["upper"])) for row in written}
    means = [(row["mean"], row["half_width"]) for row in given]
    assert found == {(mean, mean - half, mean + half) for mean, half in means}


def test_lines_are_those_that_colours_tell_apart() -> None:
    assert has_lines(rows(9, 8), "flows.f.done", columns(9, 8))
    assert not has_lines(rows(9, 9), "flows.f.done", columns(9, 9))
