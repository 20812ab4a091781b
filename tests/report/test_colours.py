"""Colours of series are told apart, also by eyes without one kind of cones: checked by simulation."""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from pathlib import Path

import numpy as np
import pytest

from longhaul.report.chart import Axis, Chart, Panel, Series
from longhaul.report.chart_json import chart_json
from longhaul.report.colours import ANYWHERE, DASHES, LIGHT, SIDES, variable

ROOT = Path(__file__).parents[2]
LEAST = 20.0
"""CIEDE2000 between lines of equal dashes."""

# Machado, Oliveira, Fernandes: A physiologically-based model for simulation of color vision deficiency
# (2009), severity 1.0, for linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])

Lab = tuple[float, float, float]


def lab(colour: str, vision: str) -> Lab:
    """CIELAB (D65) of ``#rrggbb`` as eyes see it."""
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    x, y, z = (XYZ @ np.clip(VISIONS[vision] @ linear, 0, 1)) / WHITE
    fx, fy, fz = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def ciede2000(one: Lab, other: Lab) -> float:
    """The difference of two colours (CIE 142-2001)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean7 = ((hypot(a1, b1) + hypot(a2, b2)) / 2) ** 7
    g = (1 - sqrt(mean7 / (mean7 + 25**7))) / 2
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = (degrees(atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    level, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    mean = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * cos(radians(mean - 30))
        + 0.24 * cos(radians(2 * mean))
        + 0.32 * cos(radians(3 * mean + 6))
        - 0.20 * cos(radians(4 * mean - 63))
    )
    by_level = (l2 - l1) / (1 + 0.015 * (level - 50) ** 2 / sqrt(20 + (level - 50) ** 2))
    by_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    by_hue = hue / (1 + 0.015 * chroma * t)
    turned = -2 * sqrt(chroma**7 / (chroma**7 + 25**7)) * sin(radians(60 * exp(-(((mean - 275) / 25) ** 2))))
    return sqrt(by_level**2 + by_chroma**2 + by_hue**2 + turned * by_chroma * by_hue)


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_the_published_pairs(one: Lab, other: Lab, difference: float) -> None:
    """Of Sharma, Wu, Dalal: The CIEDE2000 color-difference formula (2005), table 1."""
    assert ciede2000(one, other) == pytest.approx(difference, abs=5e-5)


def themes(path: str) -> list[dict[str, str]]:
    """The colours of series in each block of a style sheet that has all of them."""
    blocks = re.findall(r"\{([^{}]*--c10:[^{}]*)\}", (ROOT / path).read_text())
    return [dict(re.findall(r"(--c\d+):\s*(#[0-9a-f]{6})", block)) for block in blocks]


def palettes() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Every palette: of reports, of the page, of files, and of figures that may be anywhere."""
    for path in ("python/longhaul/report/look.css", "web/src/app.css"):
        for number, theme in enumerate(themes(path)):
            yield f"{path} {number}", theme
    for name, palette in (("files", LIGHT), ("anywhere", ANYWHERE)):
        yield name, {variable(each): palette[each] for each in SIDES}


@pytest.mark.parametrize("vision", VISIONS)
def test_lines_of_equal_dashes_are_told_apart_by_all_eyes(vision: str) -> None:
    found = dict(palettes())
    assert len(found) >= 6
    close = []
    for name, palette in found.items():
        for one, other in combinations(SIDES, 2):
            if DASHES.get(one) == DASHES.get(other):
                pair = palette[variable(one)], palette[variable(other)]
                difference = ciede2000(lab(pair[0], vision), lab(pair[1], vision))
                if difference < LEAST:
                    close.append(f"{name}: {variable(one)} and {variable(other)}, {difference:.1f}")
    assert close == []


def test_the_page_and_its_reports_have_the_same_colours() -> None:
    reports, page = themes("python/longhaul/report/look.css"), themes("web/src/app.css")
    assert {tuple(each.items()) for each in reports} == {tuple(each.items()) for each in page}
    assert {variable(each): LIGHT[each] for each in SIDES} == page[0]


@pytest.mark.parametrize("colour", SIDES)
def test_the_data_of_a_chart_have_the_dashes_of_its_colours(colour: str) -> None:
    line = Series("line", colour, np.zeros(2), np.zeros(2))
    chart = Chart("c", "c", [[Panel("", Axis("x"), Axis("y"), [line])]], 3.0)
    ((panel,),) = chart_json(chart)["rows"]
    assert panel["series"][0].get("dashes") == DASHES.get(colour)
