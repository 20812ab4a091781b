"""Drawings say in few bytes what figures hold."""

import re

import numpy as np
import pytest

from longhaul.report.chart_drawing import draw_svg
from longhaul.report.chart_json import chart_json
from longhaul.report.colours import LIGHT, SERIES
from longhaul.report.figures import throughput
from longhaul.report.plotting import figure, style, svg


def drawn(title: str, count: int) -> str:
    with style():
        made = figure(2.0)
        axes = made.subplots()
        axes.plot(np.arange(count), np.arange(count) ** 2, ".", color=SERIES[0], markersize=2)
        axes.set_title(title)
        return svg(made, "dots", "dots")


def test_every_dot_is_in_the_drawing_and_takes_few_bytes() -> None:
    one, many = drawn("", 1), drawn("", 1000)
    dots = re.search(r'd="((?:m[-\d.]+ [-\d.]+h0)+)" style="([^"]*)"', many)
    assert dots is not None
    steps = re.findall(r"m([-\d.]+) ([-\d.]+)h0", dots.group(1))
    assert len(steps) == 1000
    # Half of a tenth of a point, however many steps there are.
    share = np.arange(1000) / 999
    for places, wanted in zip(
        np.cumsum(np.array(steps, dtype=float), axis=0).T, (share, share**2), strict=True
    ):
        assert places == pytest.approx(places[0] + (places[-1] - places[0]) * wanted, abs=0.11)
    assert f"stroke: {LIGHT[SERIES[0]]}" in dots.group(2)
    assert "stroke-linecap: round" in dots.group(2)
    # A dot of two points' marker is one point wide, and its edge another.
    assert "stroke-width: 2;" in dots.group(2)
    assert (len(many) - len(one)) / 999 < 13


def test_what_a_drawing_uses_it_defines() -> None:
    with style():
        made = figure(2.0)
        axes = made.subplots()
        axes.plot(np.arange(50), np.arange(50), ".", color=SERIES[0], label="dots")
        axes.legend()
        text = svg(made, "legend", "dots with a legend")
    used = set(re.findall(r'href="#([^"]*)"', text))
    assert used
    assert used <= set(re.findall(r' id="([^"]*)"', text))


@pytest.mark.parametrize("words", ["Jain's index 0.890123", "time since 1.012345 s"])
def test_numbers_in_words_keep_their_digits(words: str) -> None:
    assert words in drawn(words, 3)


def test_what_a_chart_leaves_out_is_said_on_paper_and_in_the_browser() -> None:
    links = [
        {"name": f"l{number}", "way": "forward", "from": "a", "to": "b", "access": False}
        | {"phases": [{"from_ns": 0, "configured": {"rate_bits_per_s": None}}]}
        for number in range(11)
    ]
    table = {
        "link": np.array([each["name"] for each in links]),
        "way": np.array(["forward"] * 11),
        "t_s": np.ones(11),
        # The first has no traffic: it is not left out, there is nothing to show.
        "throughput_bits_per_s": np.arange(11) * 1e6,
    }
    chart = throughput(table, links)
    assert chart is not None
    words = "The 8 links of 10 that carried most"
    assert words in draw_svg(chart)
    assert chart_json(chart)["note"] == words
    assert len(list(chart.panels)) == 8
    few = throughput({name: column[:8] for name, column in table.items()}, links[:8])
    assert few is not None
    assert few.note == ""
