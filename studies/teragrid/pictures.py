"""The paper's figures 2, 3 and 4, and what the readings and the fairness come to."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from results import Results
from trials import PARALLEL, STOCHASTIC_N, STOCHASTIC_ONE, STREAMS
from verdicts import ALGORITHM_NAMES, MEASURED_MBITS, SIMULATED_MBITS, SIMULATED_SD

from longhaul.report.colours import GRID, INK, LIGHT, MUTED, SERIES
from longhaul.report.mpl import Axes, Figure
from longhaul.report.plotting import figure, paper, plain, style, svg

_STOCHASTIC = [name for name, _flow in STOCHASTIC_N]
PALE = 0.45
"""Opacity of what stands behind."""


class Gallery:
    """Draws each figure twice: for the page, whose colours change, and as a file that stands alone."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.kept: dict[str, Figure] = {}

    def draw(self, name: str, title: str, height_in: float, paint: Callable[[Figure, "Colour"], None]) -> str:
        """The figure as SVG for the page; ``NAME.png`` and ``NAME.svg`` are written."""
        with paper():
            made = figure(height_in)
            paint(made, lambda colour: LIGHT[colour])
            made.patch.set_alpha(1)
            for suffix in ("png", "svg"):
                made.savefig(self.directory / f"{name}.{suffix}", dpi=140)
            self.kept[name] = made
        with style():
            made = figure(height_in)
            paint(made, lambda colour: colour)
            return svg(made, name, title)


Colour = Callable[[str], str]


def _bars(axes: Axes, names: Sequence[str]) -> None:
    plain(axes)
    axes.grid(False, axis="x")
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_ylim(bottom=0)


def validation(results: Results, gallery: Gallery) -> str:
    """The 83 trials as a cumulative distribution."""
    rates = np.sort(results.cell("validation", "fitted", "SACK").main) / 1e6

    def paint(made: Figure, colour: Colour) -> None:
        axes = made.subplots()
        plain(axes)
        axes.step(rates, np.arange(1, len(rates) + 1) / len(rates), where="post", color=colour(SERIES[0]))
        for value, text, shade in (
            (MEASURED_MBITS, "measured", SERIES[1]),
            (SIMULATED_MBITS, "the paper's simulation", SERIES[2]),
        ):
            axes.axvline(
                value, color=colour(shade), linewidth=1, linestyle="--", label=f"{text}: {value:g} Mbit/s"
            )
        axes.axvspan(
            SIMULATED_MBITS - SIMULATED_SD,
            SIMULATED_MBITS + SIMULATED_SD,
            color=colour(GRID),
            alpha=PALE,
            label="its standard deviation",
        )
        axes.set(xlabel="goodput of 1,000 s [Mbit/s]", ylabel="share of trials", ylim=(0, 1))
        axes.legend(loc="upper left")

    return gallery.draw("validation", "Goodput of 83 SACK transfers", 2.8, paint)


def readings(results: Results, gallery: Gallery) -> str:
    """What SACK gets under each reading of the Weibull's unit."""
    names = list(dict.fromkeys(key[1] for key in results.cells if key[0] == "readings"))
    cells = [results.cell("readings", name, "SACK") for name in names]

    def paint(made: Figure, colour: Colour) -> None:
        axes = made.subplots()
        plain(axes)
        axes.grid(False, axis="y")
        axes.barh(
            range(len(names)),
            [cell.mbits for cell in cells],
            xerr=[cell.sd_mbits for cell in cells],
            color=colour(SERIES[0]),
            ecolor=colour(INK),
            capsize=2.5,
        )
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.axvline(MEASURED_MBITS, color=colour(SERIES[1]), linewidth=1, linestyle="--", label="measured")
        axes.axvline(
            SIMULATED_MBITS,
            color=colour(SERIES[2]),
            linewidth=1,
            linestyle="--",
            label="the paper's simulation",
        )
        axes.set(xlabel="goodput of one SACK flow, 65 ms [Mbit/s]", xlim=(0, None))
        axes.legend(loc="lower right")

    return gallery.draw("readings", "SACK under each reading of the loss", 3.0, paint)


def alone(results: Results, gallery: Gallery, reading: str) -> str:
    """Figure 2."""

    def paint(made: Figure, colour: Colour) -> None:
        left, right = made.subplots(1, 2, sharey=True, width_ratios=[len(ALGORITHM_NAMES), 2 * len(STREAMS)])
        cells = [results.cell("alone", reading, name) for name in ALGORITHM_NAMES]
        left.bar(
            range(len(cells)),
            [cell.mbits for cell in cells],
            yerr=[cell.sd_mbits for cell in cells],
            color=colour(SERIES[0]),
            ecolor=colour(INK),
            capsize=2.5,
        )
        _bars(left, ALGORITHM_NAMES)
        left.set_ylabel("goodput [Mbit/s]")
        for offset, (label, variants, shade) in enumerate(
            (
                ("Stochastic TCP, phi = 1", STOCHASTIC_ONE, SERIES[0]),
                ("parallel SACK streams", PARALLEL, SERIES[1]),
            )
        ):
            cells = [results.cell("alone", reading, name) for name, _flow in variants]
            right.bar(
                [place + 0.4 * (offset - 0.5) for place in range(len(cells))],
                [cell.mbits for cell in cells],
                0.38,
                yerr=[cell.sd_mbits for cell in cells],
                color=colour(shade),
                ecolor=colour(INK),
                capsize=2.5,
                label=label,
            )
        _bars(right, [str(each) for each in STREAMS])
        right.tick_params(axis="x", rotation=0)
        right.set_xlabel("streams N")
        right.legend(loc="upper left")
        for axes in (left, right):
            axes.set_ylim(0, 1300)

    return gallery.draw(f"figure-2-{reading}", f"Throughput alone, {reading}", 3.3, paint)


def beside(results: Results, gallery: Gallery, sweep: str, reading: str) -> str:
    """Figures 3 and 4."""
    there = [key[3] for key in results.cells if key[:2] == (sweep, reading)]
    groups = [[name for name in names if name in there] for names in (ALGORITHM_NAMES, _STOCHASTIC)]
    groups = [names for names in groups if names]

    def paint(made: Figure, colour: Colour) -> None:
        panels = made.subplots(
            1, len(groups), sharey=True, squeeze=False, width_ratios=list(map(len, groups))
        )[0]
        for axes, names in zip(panels, groups, strict=True):
            cells = [results.cell(sweep, reading, name) for name in names]
            places = range(len(cells))
            own = [cell.mbits for cell in cells]
            axes.bar(
                places,
                own,
                yerr=[cell.sd_mbits for cell in cells],
                color=colour(SERIES[0]),
                alpha=PALE,
                ecolor=colour(INK),
                capsize=2.5,
                label="the variant",
            )
            axes.bar(
                places,
                [cell.cross_mbits for cell in cells],
                bottom=own,
                color=colour(SERIES[0]),
                label="five SACK flows together",
            )
            # Half a bar aside, or it would lie on the other error bar.
            axes.errorbar(
                [place + 0.2 for place in places],
                [cell.mbits + cell.cross_mbits for cell in cells],
                yerr=[cell.cross_sd_mbits for cell in cells],
                linestyle="",
                color=colour(MUTED),
                capsize=2.5,
                elinewidth=0.9,
            )
            _bars(axes, names)
        most = max(
            cell.mbits + cell.cross_mbits
            for key, cell in results.cells.items()
            if key[:2] == (sweep, reading)
        )
        panels[0].set(ylabel="goodput [Mbit/s]", ylim=(0, 1.22 * most))
        panels[0].legend(loc="upper left", ncols=2)
        if len(panels) > 1:
            panels[1].set_title("phi = N")

    return gallery.draw(f"{sweep}-{reading}", f"Throughput beside five flows, {sweep}, {reading}", 3.4, paint)


def fairness(results: Results, gallery: Gallery, reading: str) -> str:
    """What each variant takes from the five, in the order of long queues."""
    names = [name for name in (*ALGORITHM_NAMES, *_STOCHASTIC) if name != "SACK"]
    names.sort(key=lambda name: results.stolen("long", reading, name).mean)

    def paint(made: Figure, colour: Colour) -> None:
        for axes, sweep in zip(made.subplots(1, 2, sharey=True), ("long", "short"), strict=True):
            found = [results.stolen(sweep, reading, name) for name in names]
            plain(axes)
            axes.grid(False, axis="y")
            axes.barh(
                range(len(names)),
                [100 * each.mean for each in found],
                xerr=[100 * (each.half_width or 0) for each in found],
                color=[colour(SERIES[1] if name in _STOCHASTIC else SERIES[0]) for name in names],
                ecolor=colour(INK),
                capsize=2.5,
            )
            axes.axvline(0, color=colour(MUTED), linewidth=0.8)
            axes.set_yticks(range(len(names)), names)
            axes.set(xlabel="taken from the five [%]", title=f"{sweep} queue")

    return gallery.draw(f"fairness-{reading}", f"What each variant takes from others, {reading}", 3.4, paint)
