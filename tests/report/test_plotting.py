"""Drawings say in few bytes what figures hold."""

import re

import numpy as np
import pytest

from longhaul.report.plotting import SERIES, figure, style, svg


def drawn(title: str, count: int) -> str:
    with style():
        made = figure(2.0)
        axes = made.subplots()
        axes.plot(np.arange(count), np.arange(count) ** 2, ".", color=SERIES[0], markersize=2)
        axes.set_title(title)
        return svg(made, "dots", "dots")


def test_every_dot_is_in_the_drawing_and_takes_few_bytes() -> None:
    one, many = drawn("", 1), drawn("", 1000)
    dots = re.search(r'd="((?:M[\d.]+ [\d.]+h0)+)" style="([^"]*)"', many)
    assert dots is not None
    assert dots.group(1).count("M") == 1000
    assert "stroke: var(--c1)" in dots.group(2)
    assert "stroke-linecap: round" in dots.group(2)
    # A dot of two points' marker is one point wide, and its edge another.
    assert "stroke-width: 2;" in dots.group(2)
    assert (len(many) - len(one)) / 999 < 20


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
