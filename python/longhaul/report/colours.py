"""The colours of the page by name: on screen its variables, on paper those of the light theme."""

from collections.abc import Mapping

INK, MUTED, GRID = "longhaul:ink", "longhaul:muted", "longhaul:grid"
SERIES = tuple(f"longhaul:{number}" for number in range(1, 9))
SIDES = (*SERIES, "longhaul:9", "longhaul:10")
"""Of the sides of a comparison."""
DASHES: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(SERIES[4:], (9.0, 2.5)),
    **dict.fromkeys(SIDES[8:], (9.0, 2.5, 1.5, 2.5)),
}
"""Strokes and gaps of lines in the later colours, in points; those of the first four are solid.

Colours of lines that have equal dashes differ by at least 20 (CIEDE2000), also for eyes without one kind of
cones; see ``tests/report/test_colours.py``.
"""
GOOD, BAD = "longhaul:good", "longhaul:bad"


def _palette(*colours: str) -> dict[str, str]:
    return dict(zip((INK, MUTED, GRID, GOOD, BAD, *SIDES), colours, strict=True))


LIGHT = _palette(
    *("#1b1f24", "#626b76", "#dde1e6", "#1a7f4b", "#c0392b"),
    *(
        "#1c64ad",
        "#ed4521",
        "#828d7c",
        "#5d1448",
        "#a88e15",
        "#2097a8",
        "#d22b77",
        "#363a34",
        "#8d541e",
        "#5148c9",
    ),
)
"""The page's colours of the light theme, for figures that stand alone."""

ANYWHERE = _palette(
    *("#78818c", "#7d8590", "#8a93a0", "#2c9a60", "#d9513f"),
    *(
        "#0c85f2",
        "#fe1106",
        "#7f8670",
        "#ae3582",
        "#af8a11",
        "#43a1a2",
        "#b50ee5",
        "#70685e",
        "#a4652c",
        "#7876ef",
    ),
)
"""Colours that can be seen on white and on black, for figures that do not know where they will be."""


def variable(colour: str) -> str:
    """The page's variable for one of our colours; that of ink for any other."""
    name = colour.partition(":")[2] or "ink"
    return f"--c{name}" if name.isdigit() else f"--{name}"
