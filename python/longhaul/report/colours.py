"""The colours of the page by name: on screen its variables, on paper those of the light theme."""

INK, MUTED, GRID = "longhaul:ink", "longhaul:muted", "longhaul:grid"
SERIES = tuple(f"longhaul:{number}" for number in range(1, 9))
SIDES = (*SERIES, "longhaul:9", "longhaul:10")
"""Of the sides of a comparison."""
GOOD, BAD = "longhaul:good", "longhaul:bad"


def _palette(*colours: str) -> dict[str, str]:
    return dict(zip((INK, MUTED, GRID, GOOD, BAD, *SIDES), colours, strict=True))


LIGHT = _palette(
    *("#1b1f24", "#626b76", "#dde1e6", "#1a7f4b", "#c0392b"),
    *(
        "#2166ac",
        "#d6604d",
        "#1b7837",
        "#762a83",
        "#b8860b",
        "#01838a",
        "#c51b7d",
        "#5a5a5a",
        "#8c510a",
        "#4b4bc8",
    ),
)
"""The page's colours by day, for figures that stand alone."""

ANYWHERE = _palette(
    *("#78818c", "#7d8590", "#8a93a0", "#2c9a60", "#d9513f"),
    *(
        "#3d82c8",
        "#d9603b",
        "#2f9652",
        "#a566c8",
        "#a87c10",
        "#0f9099",
        "#d6459a",
        "#808080",
        "#a5692f",
        "#7a7af0",
    ),
)
"""Colours that can be seen on white and on black, for figures that do not know where they will be."""


def variable(colour: str) -> str:
    """The page's variable for one of our colours; that of ink for any other."""
    name = colour.partition(":")[2] or "ink"
    return f"--c{name}" if name.isdigit() else f"--{name}"
