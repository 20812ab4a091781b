"""``paper.yaml``: what a paper states, with numbers of claims filled in, and an error for each mistake."""

from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.studies import PaperFigures, read_paper
from longhaul.studies.claims import parse_claims
from longhaul.studies.paper import parse_paper

CLAIMS = parse_claims(
    b"""question: How long is the delay?
parts: {live: {how: live}}
claims:
  - id: delay-close
    part: live
    place: figure 1
    text: The delay is {target_ms} ms up to {places_us} us
    rule: within {within:%}
    numbers: {target_ms: 2.5, within: 0.05, places_us: [100, 300]}
""",
    name="claims.yaml",
)
RIGHT = """paper: A. Author, On delays, 2006
figures:
  - {figure: "1", shows: the testbed, without: a drawing}
  - figure: 2a
    shows: the delay against the size
    place: section 4
    ours: figure-2
    x_unit: bytes
    y_unit: ms
    values:
      - {series: measured, x: [64, 1500], y: [2, 2.5], spread: [0.1, 0.25]}
      - {series: target, y: delay-close.target_ms, bound: above}
      - {series: far, x: delay-close.places_us, y: [7, 8], x_unit: us}
      - {series: best, x: [fast, slow]}
      - {series: gain, x: fast, y: 0.37, y_unit: share}
"""


def parsed(text: str) -> PaperFigures:
    return parse_paper(text.encode(), CLAIMS, name="paper.yaml")


def test_values_are_those_of_the_file_and_of_the_claims() -> None:
    drawing, figure = parsed(RIGHT).figures
    assert (drawing.without, drawing.values) == ("a drawing", ())
    assert (figure.name, figure.place, figure.ours) == ("2a", "section 4", ("figure-2",))
    found = [(each.series, each.x, each.y, each.spread, each.bound) for each in figure.values]
    assert found == [
        ("measured", 64, 2, 0.1, None),
        ("measured", 1500, 2.5, 0.25, None),
        ("target", None, 2.5, None, "above"),
        ("far", 100, 7, None, None),
        ("far", 300, 8, None, None),
        ("best", "fast", None, None, None),
        ("best", "slow", None, None, None),
        ("gain", "fast", 0.37, None, None),
    ]


def test_values_are_picked_by_figure_series_and_place() -> None:
    paper = parsed(RIGHT)
    assert [each.series for each in paper.values("2a", "best", "target")] == ["best", "best", "target"]
    assert len(paper.values("2a")) == 8
    assert paper.value("2a", "measured", 1500) == 2.5
    assert paper.value("2a", "target") == 2.5
    for wanted, says in (
        (lambda: paper.values("2"), 'no figure "2"; did you mean "2a"'),
        (lambda: paper.values("2a", "measure"), 'series "measure"; did you mean "measured"'),
        (lambda: paper.value("2a", "measured"), "2 values of measured"),
        (lambda: paper.value("2a", "best", "fast"), "name the x of one"),
    ):
        with pytest.raises(LonghaulError, match=says):
            wanted()


def test_a_value_is_shown_with_its_units_its_bound_and_its_place() -> None:
    shown = [each.shown() for each in parsed(RIGHT).values("2a")]
    assert shown[:4] == [
        "2 ± 0.1 ms at 64 bytes",
        "2.5 ± 0.25 ms at 1,500 bytes",
        "more than 2.5 ms",
        "7 ms at 100 us",
    ]
    assert shown[5:] == ["fast", "slow", "37 % at fast"]


def test_a_study_without_a_paper_has_no_figures(tmp_path: Path) -> None:
    assert read_paper(tmp_path / "paper.yaml", CLAIMS).figures == ()


MISTAKES = {
    "an unknown key": (("    place: section 4", "    plac: section 4"), "6:5", 'did you mean "place"'),
    "a figure twice": (('figure: "1"', "figure: 2a"), "4:5", "the figure is here twice"),
    "lists of different lengths": (("y: [2, 2.5]", "y: [2]"), "11:9", "lists of different lengths"),
    "nothing stated": (("x: [fast, slow]", "bound: above"), "14:9", "has no value"),
    "an unknown claim": (
        ("delay-close.target_ms", "delay-clos.target_ms"),
        "12:26",
        'did you mean "delay-close"',
    ),
    "an unknown number": (
        ("delay-close.target_ms", "delay-close.target"),
        "12:26",
        'did you mean "target_ms"',
    ),
    "a text for a number": (("y: [7, 8]", "y: [seven, 8]"), "13:49", '"seven" is not a number'),
    "figures without ours": (
        ("    ours: figure-2\n", ""),
        "4:5",
        "either the names of our figures, or the reason",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_one_error_with_its_place(mistake: str) -> None:
    (old, new), place, says = MISTAKES[mistake]
    assert RIGHT.count(old) == 1
    with pytest.raises(LonghaulError) as raised:
        parsed(RIGHT.replace(old, new))
    (line,) = [line for line in str(raised.value).splitlines() if line.startswith("paper.yaml:")]
    assert line.startswith(f"paper.yaml:{place}:"), line
    assert says in line
