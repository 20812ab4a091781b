"""Figures show what a paper states, and what was measured, in one way."""

import pytest
from matplotlib.container import ErrorbarContainer

from longhaul.report.mpl import Axes
from longhaul.report.plotting import figure, paper
from longhaul.studies import Measurement, PaperValue, measured
from longhaul.studies.drawing import colour, draw_measured, draw_paper, half_widths, legend_below


def axes() -> Axes:
    with paper():
        return figure(3).subplots()


def value(x: float | str | None, y: float | None, **more: object) -> PaperValue:
    return PaperValue("1", "stated", x, y, **more)  # type: ignore[arg-type]


def bars(drawn: Axes) -> list[ErrorbarContainer]:
    return [each for each in drawn.containers if isinstance(each, ErrorbarContainer)]


def ends(container: ErrorbarContainer) -> list[tuple[float, float]]:
    """The ends of each error bar, along y."""
    (lines,) = container.lines[2]
    return [(segment[0][1], segment[1][1]) for segment in lines.get_segments()]


def test_stated_points_are_hollow_black_diamonds_with_the_papers_error_bars() -> None:
    drawn = axes()
    draw_paper(drawn, [value(1, 10, spread=2.0), value(3, 20)])
    (container,) = bars(drawn)
    points = container.lines[0]
    assert points.get_xydata().tolist() == [[1, 10], [3, 20]]
    assert (points.get_marker(), points.get_fillstyle(), points.get_color()) == ("D", "none", "black")
    assert ends(container) == [(8, 12), (20, 20)]
    assert container.get_label() == "paper"


def test_without_a_spread_there_is_no_error_bar() -> None:
    drawn = axes()
    draw_paper(drawn, [value(1, 10)])
    assert bars(drawn)[0].lines[2] == ()


def test_points_stand_where_their_categories_are_and_lie_across_if_asked() -> None:
    drawn = axes()
    draw_paper(drawn, [value("SACK", 451, spread=103.0)], places={"SACK": 4.0}, across=True)
    assert bars(drawn)[0].lines[0].get_xydata().tolist() == [[451, 4]]


@pytest.mark.parametrize(
    ("stated", "across", "points"),
    [
        (value(None, 5), False, [[0, 5], [1, 5]]),
        (value(None, 5), True, [[5, 0], [5, 1]]),
        (value(300, None), False, [[300, 0], [300, 1]]),
    ],
)
def test_a_value_of_a_whole_axis_is_a_dashed_line(
    stated: PaperValue, across: bool, points: list[list[float]]
) -> None:
    drawn = axes()
    draw_paper(drawn, [stated], across=across)
    (line,) = drawn.lines
    assert line.get_xydata().tolist() == points
    assert line.get_linestyle() == "--"
    assert line.get_label() == "paper: stated"


@pytest.mark.parametrize(("bound", "sign"), [("above", 1), ("below", -1)])
@pytest.mark.parametrize("x", [2, None])
def test_a_bound_has_an_arrow_to_the_side_of_the_papers_result(
    x: float | None, bound: str, sign: int
) -> None:
    drawn = axes()
    draw_paper(drawn, [value(x, 350, bound=bound)])
    (arrow,) = drawn.texts
    assert arrow.xy[1] == 350
    assert arrow.xyann[0] == 0
    assert arrow.xyann[1] * sign > 0


def test_a_category_without_a_value_is_marked_at_the_upper_edge() -> None:
    drawn = axes()
    draw_paper(drawn, [value("BIC", None), value("CUBIC", None)], places={"BIC": 2.0, "CUBIC": 3.0})
    assert [line.get_xdata()[0] for line in drawn.lines] == [2, 3]
    assert {line.get_fillstyle() for line in drawn.lines} == {"none"}


def test_a_category_needs_its_place() -> None:
    with pytest.raises(AssertionError, match="say where it is on the axis"):
        draw_paper(axes(), [value("SACK", 1)])


def test_means_have_bars_of_their_95_percent_intervals() -> None:
    drawn = axes()
    found = [measured([1, 2, 3]), Measurement(5.0, 0.5, 4)]
    draw_measured(drawn, [10, 20], found, label="live", color=colour(1))
    (container,) = bars(drawn)
    # t(0.975, 2) = 4.303; the standard error of 1, 2, 3 is 1/sqrt(3).
    half = 4.303 / 3**0.5
    assert ends(container)[0] == pytest.approx((2 - half, 2 + half), abs=1e-3)
    assert ends(container)[1] == (4.5, 5.5)


def test_single_runs_and_what_is_exact_have_no_bars() -> None:
    drawn = axes()
    found = [measured([1.0]), Measurement(2.0)]
    assert half_widths(found) == [0, 0]
    draw_measured(drawn, [1, 2], found)
    assert bars(drawn)[0].lines[2] == ()


def test_a_legend_has_each_label_once_and_the_paper_at_the_end() -> None:
    with paper():
        made = figure(3)
        for each in made.subplots(1, 2):
            draw_paper(each, [value(1, 1)])
            draw_measured(each, [1], [Measurement(2.0)], label="live")
        legend_below(made)
    (legend,) = made.legends
    assert [text.get_text() for text in legend.get_texts()] == ["live", "paper"]
