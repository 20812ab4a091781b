"""Figures of the part with Linux's hosts: rates over time, and all cases beside simulated ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from calibration import PLACES
from testbed import draw_flows

from longhaul.report.mpl import Axes
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures
from longhaul.studies.drawing import colour, draw_paper, legend_below

Rows = Sequence[Mapping[str, Any]]
ONE_FLOW = {
    "4": ("exact clock", "1000 Hz"),
    "8": ("10 ms, 16 MiB", "100 ms, 16 MiB", "100 ms, 25 MiB", "token bucket"),
}
TWO_FLOWS = (
    ("9: one machine", "9: two machines"),
    ("10: token bucket", "10: PSPacer"),
    ("11: 10 %", "11: 20 %"),
)
HOSTS = {"Linux": "-", "simulated": ":"}


def draw(figures: Figures) -> None:
    """All figures of the part."""
    rates, rows = figures.rows("on-linux-rates"), figures.rows("on-linux")
    _draw_one_flow(figures, rates)
    _draw_two_flows(figures, rates)
    _draw_means(figures, rows)


def _draw_one_flow(figures: Figures, rates: Rows) -> None:
    with paper():
        made = figure(3.6, width_in=10)
        for number, (name, cases) in enumerate(ONE_FLOW.items()):
            axes = made.add_subplot(1, 2, 1 + number)
            for case, label in enumerate(cases):
                for hosts, line in HOSTS.items():
                    mine = [
                        row
                        for row in rates
                        if (row["run"], row["hosts"]) == (f"{name}: {label}, Reno", hosts)
                    ]
                    times, values = ([row[column] for row in mine] for column in ("t_s", "mbits"))
                    axes.plot(times, values, line, color=colour(case + 2 * number), label=f"{label}, {hosts}")
            draw_paper(axes, figures.paper.values(name))
            axes.set(ylim=(0, 1050), xlim=(0, 20 if name == "4" else 60), xlabel="time [s]")
            axes.set_title(f"figure {name}: one Reno flow")
        made.axes[0].set_ylabel("goodput [Mbit/s]")
        legend_below(made, ncols=4, size=7)
        figures.add(made, "linux-one-flow", data=["on-linux-rates"])


def _draw_two_flows(figures: Figures, rates: Rows) -> None:
    cases = [case for pair in TWO_FLOWS for case in pair]
    with paper():
        made = figure(8.2, width_in=12)
        for down, (control, hosts) in enumerate(
            (control, hosts) for control in ("Reno", "BIC") for hosts in HOSTS
        ):
            for across, case in enumerate(cases):
                axes = made.add_subplot(4, len(cases), 1 + len(cases) * down + across)
                mine = [row for row in rates if (row["run"], row["hosts"]) == (f"{case}, {control}", hosts)]
                draw_flows(axes, mine, {"a": "first flow", "b": "second flow"})
                draw_paper(axes, figures.paper.values(case.split(":")[0], "rate of the bottleneck"))
                axes.set(ylim=(0, 760), xlim=(0, 60))
                if not down:
                    axes.set_title(f"figure {case}", fontsize=9)
                if not across:
                    axes.set_ylabel(f"{control}, {hosts}\ngoodput [Mbit/s]")
                if down == 3:
                    axes.set_xlabel("time [s]")
        legend_below(made)
        figures.add(made, "linux-two-flows", data=["on-linux-rates"])


def _draw_means(figures: Figures, rows: Rows) -> None:
    """Each case's mean rate and Jain's index, with Linux's hosts, simulated, and in the paper."""
    with paper():
        made = figure(0.27 * len(rows) + 1.2, width_in=9.5)
        rates, fair = made.subplots(1, 2, sharey=True, width_ratios=[1.6, 1])
        places = {_name(row): float(place) for place, row in enumerate(rows)}
        for number, hosts in enumerate(HOSTS):
            column = f"{hosts.lower()}_mbits"
            at = [place - 0.2 + 0.4 * number for place in places.values()]
            values = [row[column] for row in rows]
            rates.barh(at, values, height=0.38, color=colour(number), label=f"{hosts}, mean of the run")
            for place, value in zip(at, values, strict=True):
                rates.text(value + 8, place, f"{value:.0f}", va="center", fontsize=6.5)
            shared = [row for row in rows if row["linux_jain"] is not None]
            fair.plot(
                [row[f"{hosts.lower()}_jain"] for row in shared],
                [places[_name(row)] for row in shared],
                "os"[number],
                color=colour(number),
                markersize=5,
                fillstyle=("full", "none")[number],
            )
        _draw_stated(figures, rates, fair, rows, places)
        rates.set_yticks(list(places.values()), list(places), fontsize=7.5)
        rates.set(xlim=(0, 1050), ylim=(len(rows) - 0.4, -0.6), xlabel="all flows together [Mbit/s]")
        fair.set(xlim=(0.45, 1.03), xlabel="Jain's index")
        for axes in (rates, fair):
            axes.grid(axis="y", visible=False)
            axes.set_axisbelow(True)
        legend_below(made)
        figures.add(made, "linux-means", data=["on-linux"])


def _draw_stated(figures: Figures, rates: Axes, fair: Axes, rows: Rows, places: Mapping[str, float]) -> None:
    """What the paper states of these cases: rates of table III, and an index for figures 9 to 11."""
    by_kind = {
        kind: next(places[_name(row)] for row in rows if kind in row["figure"]) for kind in ("TCP", "UDP")
    }
    for place in PLACES:
        draw_paper(rates, figures.paper.values("table III", place), places=by_kind, across=True)
    for row in rows:
        for stated in (
            figures.paper.values(row["figure"].split(":")[0], "Jain's index") if row["linux_jain"] else ()
        ):
            draw_paper(fair, [replace(stated, x=places[_name(row)])], across=True)


def _name(row: Mapping[str, Any]) -> str:
    control = f", {row['control']}" if row["control"] else ""
    what = "table" if row["figure"].startswith("III") else "figure"
    return f"{what} {row['figure']}{control}"
