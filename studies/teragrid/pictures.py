"""The paper's figures 2, 3 and 4, and what the readings and the fairness come to, from the study's tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from trials import PARALLEL, STOCHASTIC_N, STOCHASTIC_ONE, STREAMS
from verdicts import ALGORITHM_NAMES

from longhaul.report.colours import INK, LIGHT, MUTED, SERIES
from longhaul.report.mpl import Axes, Figure
from longhaul.report.plotting import figure, paper, plain, style, svg
from longhaul.studies import Figures, PaperFigures
from longhaul.studies.drawing import draw_paper, legend_below

_STOCHASTIC = [name for name, _flow in STOCHASTIC_N]
PALE = 0.45
"""Opacity of what stands behind."""
Colour = Callable[[str], str]


PUBLISHED = ("minutes", "seconds")
"""The readings of the loss whose figures are on the page of the study."""


@dataclass(frozen=True)
class Bar:
    """Means and standard deviations of a variant, and of the five flows beside it, in Mbit/s."""

    mbits: float
    sd: float
    others: float
    others_sd: float
    taken: float
    """The share of what the five have beside SACK that they lose."""
    taken_half: float
    """Of its 95 % interval."""


class Bars:
    """The table of means by sweep, reading and variant, at the study's round trip."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], *, round_trip_ms: int = 65) -> None:
        """``rows``: of the table ``goodput``."""
        self._bars = {
            (row["sweep"], row["reading"], row["variant"]): Bar(
                row["mbits"],
                row["sd_mbits"] or 0.0,
                row["others_mbits"],
                row["others_sd_mbits"] or 0.0,
                row["taken_share"] or 0.0,
                row["taken_half_width"] or 0.0,
            )
            for row in rows
            if row["round_trip_ms"] == round_trip_ms
        }

    def bar(self, sweep: str, reading: str, variant: str) -> Bar:
        """One of them."""
        return self._bars[sweep, reading, variant]

    def readings(self, sweep: str) -> list[str]:
        """The readings of a sweep, in the order of the table."""
        return list(dict.fromkeys(reading for each, reading, _name in self._bars if each == sweep))

    def variants(self, sweep: str, reading: str) -> list[str]:
        """The variants of a sweep under a reading."""
        return [name for each, one, name in self._bars if (each, one) == (sweep, reading)]


@dataclass(frozen=True)
class Picture:
    """A figure that can be painted in any colours."""

    name: str
    title: str
    height_in: float
    paint: Callable[[Figure, Colour], None]

    def by_day(self) -> Figure:
        """In the colours of figures that stand alone."""
        with paper():
            made = figure(self.height_in)
            self.paint(made, lambda colour: LIGHT[colour])
            made.patch.set_alpha(1)
            return made

    def on_page(self, directory: Path) -> str:
        """As SVG for the page, whose colours change; ``NAME.png`` and ``NAME.svg`` are written."""
        made = self.by_day()
        for suffix in ("png", "svg"):
            made.savefig(directory / f"{self.name}.{suffix}", dpi=140)
        with style():
            made = figure(self.height_in)
            self.paint(made, lambda colour: colour)
            return svg(made, self.name, self.title)


def _bars(axes: Axes, names: Sequence[str]) -> None:
    plain(axes)
    axes.grid(False, axis="x")
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_ylim(bottom=0)


def validation(rows: Sequence[Mapping[str, Any]], stated: PaperFigures) -> Picture:
    """The 83 trials as a cumulative distribution."""
    rates = np.sort([row["mbits"] for row in rows])

    def paint(made: Figure, colour: Colour) -> None:
        axes = made.subplots()
        plain(axes)
        shares = np.arange(1, len(rates) + 1) / len(rates)
        axes.step(rates, shares, where="post", color=colour(SERIES[0]), label="simulated")
        # The mean has no share of trials: it is drawn near the lower edge, the median where it is.
        for series, label in (
            ("measured", "paper"),
            ("simulated", "paper: mean and standard deviation of its simulation"),
            ("median of the simulation", "paper: median of its simulation"),
        ):
            places = {"SACK": 0.06, 0.5: 0.5}
            marker = "s" if series.startswith("median") else "D"
            values = stated.values("section 5", series)
            draw_paper(axes, values, places=places, across=True, label=label, marker=marker, ink=colour(INK))
        axes.set(xlabel="goodput of 1,000 s [Mbit/s]", ylabel="share of trials", ylim=(0, 1))
        legend_below(made, ncols=2)

    return Picture("validation", "Goodput of 83 SACK transfers", 3.4, paint)


def readings(bars: Bars, stated: PaperFigures) -> Picture:
    """What SACK gets under each reading of the Weibull's unit."""
    names = bars.readings("readings")
    found = [bars.bar("readings", name, "SACK") for name in names]

    def paint(made: Figure, colour: Colour) -> None:
        axes = made.subplots()
        plain(axes)
        axes.grid(False, axis="y")
        axes.barh(
            range(len(names)),
            [each.mbits for each in found],
            xerr=[each.sd for each in found],
            color=colour(SERIES[0]),
            alpha=PALE,
            ecolor=colour(INK),
            capsize=2.5,
            label="simulated, mean and standard deviation",
        )
        draw_paper(axes, stated.values("section 5", "measured"), across=True, ink=colour(INK))
        draw_paper(
            axes,
            stated.values("section 5", "simulated"),
            places={"SACK": -0.9},
            across=True,
            label="paper: mean and standard deviation of its simulation",
            ink=colour(INK),
        )
        axes.set_yticks(range(len(names)), names)
        axes.set(ylim=(len(names) - 0.4, -1.5))
        axes.set(xlabel="goodput of one SACK flow, 65 ms [Mbit/s]", xlim=(0, None))
        legend_below(made, ncols=3)

    return Picture("readings", "SACK under each reading of the loss", 3.3, paint)


def alone(bars: Bars, stated: PaperFigures, reading: str) -> Picture:
    """Figure 2."""

    def paint(made: Figure, colour: Colour) -> None:
        left, right = made.subplots(1, 2, sharey=True, width_ratios=[len(ALGORITHM_NAMES), 2 * len(STREAMS)])
        found = [bars.bar("alone", reading, name) for name in ALGORITHM_NAMES]
        left.bar(
            range(len(found)),
            [each.mbits for each in found],
            yerr=[each.sd for each in found],
            color=colour(SERIES[0]),
            alpha=PALE,
            ecolor=colour(INK),
            capsize=2.5,
        )
        _bars(left, ALGORITHM_NAMES)
        left.set_ylabel("goodput [Mbit/s]")
        for offset, (label, variants, shade) in enumerate(
            (
                ("Stochastic TCP, phi = 1", STOCHASTIC_ONE, SERIES[1]),
                ("parallel SACK streams", PARALLEL, SERIES[0]),
            )
        ):
            found = [bars.bar("alone", reading, name) for name, _flow in variants]
            right.bar(
                [place + 0.4 * (offset - 0.5) for place in range(len(found))],
                [each.mbits for each in found],
                0.38,
                yerr=[each.sd for each in found],
                color=colour(shade),
                alpha=PALE,
                ecolor=colour(INK),
                capsize=2.5,
                label=label,
            )
        _bars(right, [str(each) for each in STREAMS])
        right.tick_params(axis="x", rotation=0)
        right.set_xlabel("streams N")
        # Aside of our own bar, whose error bar it would cover.
        place = ALGORITHM_NAMES.index("SACK") + 0.3
        draw_paper(left, stated.values("2", "simulated"), places={"SACK": place}, ink=colour(INK))
        for axes in (left, right):
            draw_paper(axes, stated.values("2", "measured"), ink=colour(INK))
            axes.set_ylim(0, 1300)
        left.set_title(f"figure 2, {reading}")
        legend_below(made, ncols=4)

    return Picture(f"figure-2-{reading}", f"Throughput alone, {reading}", 3.7, paint)


def beside(bars: Bars, stated: PaperFigures, sweep: str, reading: str) -> Picture:
    """Figures 3 and 4: the variant below, the five flows above."""
    there = bars.variants(sweep, reading)
    groups = [[name for name in names if name in there] for names in (ALGORITHM_NAMES, _STOCHASTIC)]
    groups = [names for names in groups if names]
    number = {"long": "3", "short": "4"}.get(sweep)

    def paint(made: Figure, colour: Colour) -> None:
        panels = made.subplots(
            1, len(groups), sharey=True, squeeze=False, width_ratios=list(map(len, groups))
        )[0]
        for axes, names in zip(panels, groups, strict=True):
            found = [bars.bar(sweep, reading, name) for name in names]
            places = range(len(found))
            own = [each.mbits for each in found]
            axes.bar(
                places,
                own,
                yerr=[each.sd for each in found],
                color=colour(SERIES[0]),
                alpha=PALE,
                ecolor=colour(INK),
                capsize=2.5,
                label="the variant",
            )
            axes.bar(
                places,
                [each.others for each in found],
                bottom=own,
                color=colour(SERIES[0]),
                label="five SACK flows together",
            )
            # Half a bar aside, or it would lie on the other error bar.
            axes.errorbar(
                [place + 0.2 for place in places],
                [each.mbits + each.others for each in found],
                yerr=[each.others_sd for each in found],
                linestyle="",
                color=colour(MUTED),
                capsize=2.5,
                elinewidth=0.9,
            )
            _bars(axes, names)
        most = max(bar.mbits + bar.others for bar in (bars.bar(sweep, reading, name) for name in there))
        panels[0].set(ylabel="goodput [Mbit/s]", ylim=(0, 1.2 * most))
        if number:
            places = {name: float(place) for place, name in enumerate(groups[0])}
            draw_paper(panels[0], stated.values(number), places=places, ink=colour(INK))
        panels[0].set_title(f"figure {number}, {reading}" if number else f"sinks of their own, {reading}")
        if len(panels) > 1:
            panels[1].set_title("phi = N")
        legend_below(made, ncols=4)

    name = f"figure-{number}-{reading}" if number else f"{sweep}-{reading}"
    return Picture(name, f"Throughput beside five flows, {sweep}, {reading}", 3.8, paint)


def fairness(bars: Bars, reading: str) -> Picture:
    """What each variant takes from the five, in the order of long queues."""
    names = [name for name in (*ALGORITHM_NAMES, *_STOCHASTIC) if name != "SACK"]
    names.sort(key=lambda name: bars.bar("long", reading, name).taken)

    def paint(made: Figure, colour: Colour) -> None:
        for axes, sweep in zip(made.subplots(1, 2, sharey=True), ("long", "short"), strict=True):
            found = [bars.bar(sweep, reading, name) for name in names]
            plain(axes)
            axes.grid(False, axis="y")
            axes.barh(
                range(len(names)),
                [100 * each.taken for each in found],
                xerr=[100 * each.taken_half for each in found],
                color=[colour(SERIES[1] if name in _STOCHASTIC else SERIES[0]) for name in names],
                ecolor=colour(INK),
                capsize=2.5,
            )
            axes.axvline(0, color=colour(MUTED), linewidth=0.8)
            axes.set_yticks(range(len(names)), names)
            axes.set(xlabel="taken from the five [%]", title=f"{sweep} queue")

    return Picture(f"fairness-{reading}", f"What each variant takes from others, {reading}", 3.4, paint)


def draw(figures: Figures) -> None:
    """Every figure that the study publishes; the report of a study has those of all readings."""
    bars, stated = Bars(figures.rows("goodput")), figures.paper
    pictures = [
        (validation(figures.rows("validation"), stated), "validation"),
        (readings(bars, stated), "goodput"),
    ]
    pictures += [(alone(bars, stated, reading), "goodput") for reading in PUBLISHED]
    pictures += [
        (beside(bars, stated, sweep, reading), "goodput")
        for sweep in ("long", "short")
        for reading in PUBLISHED
    ]
    pictures += [(fairness(bars, reading), "goodput") for reading in PUBLISHED]
    for picture, table in pictures:
        figures.add(picture.by_day(), picture.name, data=[table])
