"""Maps of sweeps: which axes they have, what a cell says, and what is hatched."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.report.files import write_drawn
from longhaul.sweeps.figures import has_lines
from longhaul.sweeps.heat_maps import heat_map, map_axes, number_text

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


def drawn(given: Sequence[Row], count: int) -> str | None:
    names = [f"name{place}" for place in range(count)]
    return heat_map(given, "flows.f.done", [f"axis_{place}" for place in range(count)], names)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_there_is_a_map_where_two_axes_have_three_values(sizes: list[int]) -> None:
    found = map_axes(rows(*sizes), columns(*sizes))
    others = sorted(sizes)[:-2]
    panels = 1
    for size in others:
        panels *= size
    assert (found is not None) == (len(sizes) >= 2 and sorted(sizes)[-2] >= 3 and panels <= 9)
    if found:
        assert {found.along, found.up, *found.panels} == set(columns(*sizes))


def test_points_drawn_at_random_fill_no_map() -> None:
    scattered = [row for row in rows(6, 6) if row["axis_0"] == row["axis_1"]]
    assert map_axes(scattered, columns(6, 6)) is None


def test_every_cell_says_its_mean_and_its_interval() -> None:
    text = drawn(rows(3, 4), 2)
    assert text is not None
    assert set(re.findall(r">(1\d\d)<", text)) >= {str(number) for number in range(100, 112)}
    assert text.count(">±2<") == 12  # as many places as the mean has
    assert "hatch" not in text
    assert "pattern" not in text


def test_words_go_up_from_the_last_and_numbers_along() -> None:
    named = [{**row, "axis_0": "abcd"[row["axis_0"] - 1]} for row in rows(4, 3)]
    found = map_axes(named, columns(4, 3))
    assert found is not None
    assert (found.along, found.up) == ("axis_1", "axis_0")


def test_a_variant_without_runs_is_hatched() -> None:
    text = drawn(rows(3, 3)[1:], 2)
    assert text is not None
    assert "<pattern" in text
    assert ">100<" not in text


def test_a_variant_with_fewer_runs_is_hatched_and_says_so() -> None:
    given = rows(3, 3)
    given[4] |= {"runs": 1, "half_width": None}
    text = drawn(given, 2)
    assert text is not None
    assert "<pattern" in text
    assert "1 of 3 runs" in text
    assert text.count("±") == 8


def test_other_axes_make_panels() -> None:
    text = drawn(rows(3, 3, 2), 3)
    assert text is not None
    assert "name2 1" in text
    assert "name2 2" in text


def test_cells_too_small_for_words_have_colours_alone() -> None:
    text = drawn(rows(20, 3), 2)
    assert text is not None
    assert "±" not in text


def test_colours_of_the_theme_stay_variables() -> None:
    text = drawn(rows(3, 3)[1:], 2)
    assert text is not None
    assert not re.findall("#a100[0-9a-f]{2}", text)
    assert "var(--muted)" in text


@pytest.mark.parametrize(("value", "like", "said"), [(93.72, None, "93.7"), (1199.4, None, "1199")])
def test_means_have_three_digits(value: float, like: float | None, said: str) -> None:
    assert number_text(value, like=like) == said
    assert number_text(0) == "0"
    assert number_text(0.004, like=93.7) == "0.004"
    assert number_text(15.33, like=93.7) == "15.3"


def test_what_a_map_shows_is_in_its_csv(tmp_path: Path) -> None:
    given = rows(3, 3)
    (path,) = write_drawn(lambda: drawn(given, 2), tmp_path, ["csv"])
    with path.open(newline="") as file:
        written = list(csv.DictReader(file))
    assert {row["y_name"] for row in written} == {"completed transfers of flow f"}
    found = {(float(row["y"]), float(row["lower"]), float(row["upper"])) for row in written}
    means = [(row["mean"], row["half_width"]) for row in given]
    assert found == {(mean, mean - half, mean + half) for mean, half in means}


def test_lines_are_those_that_colours_tell_apart() -> None:
    assert has_lines(rows(9, 8), "flows.f.done", columns(9, 8))
    assert not has_lines(rows(9, 9), "flows.f.done", columns(9, 9))
