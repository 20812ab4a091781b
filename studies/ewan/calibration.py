"""Table III and figure 4: what a gigabit port carries, and a gigabit over 100 ms."""

import numpy as np
from testbed import FRAME, RENO, SEGMENT, Trial, mbits, one, simulate

from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Figures, Study, exact, near
from longhaul.studies.drawing import colour, draw_paper, legend_below

DATAGRAM = 1470
"""What iperf 2 sends if nothing is said."""
EXPECTED = {"TCP": 1000 * SEGMENT / FRAME, "UDP": 1000 * DATAGRAM / (DATAGRAM + 28 + 38)}
PLACES = ("Lyon, first interface", "Lyon, second interface", "Orsay")
"""Of table III."""
CLOCKS = {
    "exact": ("any fineness (Longhaul)", "$wan"),
    "hz1000": ("1000 Hz (Linux 2.6)", "{base: $wan, ticks: {hz: 1000, rounding: up}}"),
    "hz100": ("100 Hz (Linux 2.4)", "{base: $wan, ticks: {hz: 100, rounding: up}}"),
}
DATAGRAMS = f"kind: udp, from: a, to: x, size: {DATAGRAM}B, rate: "
ASKED_MS = 50
"""One way."""
NETEM_LIMIT = 1000
"""Packets that netem holds if nothing is said."""


def study_table_3(study: Study) -> None:
    """Simulate a gigabit port; evaluate the table's figures."""
    close = {"wan": "10us", "buffers": "1MiB", "queue": "10000p"}
    trials = (
        Trial("port-tcp", one(RENO), seconds=10, params=close),
        Trial("port-udp", {"a": f"{DATAGRAMS}1Gbit"}, seconds=10, params=close),
    )
    found = {
        kind: mbits(result, "a")
        for kind, (_trial, result) in zip(EXPECTED, simulate(study, trials), strict=True)
    }
    rows = [{"where": "arithmetic", **{kind: round(rate, 2) for kind, rate in EXPECTED.items()}}]
    rows += [{"where": "simulated", **{kind: round(rate, 2) for kind, rate in found.items()}}]
    stated = study.definition.paper
    rows += [
        {"where": where, **{kind: stated.value("table III", where, kind) for kind in EXPECTED}}
        for where in PLACES
    ]
    study.table("table-3", rows)
    limits = study.numbers("gigabit-port")
    study.evaluate(
        "gigabit-port",
        [
            near(kind, exact(found[kind]), limits[f"{kind.lower()}_mbits"], limits["within"], "Mbit/s")
            for kind in EXPECTED
        ],
    )
    limits = study.numbers("lyon-second-interface")
    study.evaluate(
        "lyon-second-interface",
        [
            near(kind, exact(found[kind]), limits[f"{kind.lower()}_mbits"], limits["within"], "Mbit/s")
            for kind in EXPECTED
        ],
    )


def study_figure_4(study: Study) -> None:
    """Simulate a gigabit over 100 ms, with and without netem's clock."""
    trials = [
        Trial(f"wan-{kind}-{clock}", flows, seconds=seconds, delay=delay)
        for clock, (_label, delay) in CLOCKS.items()
        for kind, flows, seconds in (("tcp", one(RENO), 20), ("udp", {"a": f"{DATAGRAMS}900Mbit"}, 2))
    ]
    found = {trial.name: result for trial, result in simulate(study, trials)}
    delays = {clock: _delays_ms(found[f"wan-udp-{clock}"]) for clock in CLOCKS}
    rates = {clock: _rates(found[f"wan-tcp-{clock}"]) for clock in CLOCKS}
    full = {clock: float(np.mean(values[times > times[-1] / 2])) for clock, (times, values) in rates.items()}
    study.table(
        "figure-4",
        [
            {
                "clock": label,
                "tcp_mbits_after_10_s": round(full[clock], 1),
                "delay_least_ms": round(float(delays[clock][0].min()), 3),
                "delay_most_ms": round(float(delays[clock][0].max()), 3),
            }
            for clock, (label, _delay) in CLOCKS.items()
        ],
    )
    for clock in CLOCKS:
        spread = delays[clock][0]
        study.value(f"{clock}-rate", exact(full[clock]), "Mbit/s")
        study.value(f"{clock}-delay", exact(float(spread.max())), "ms")
    within = study.numbers("netem-gigabit")["within"]
    study.evaluate(
        "netem-gigabit",
        [
            near(label, exact(full[clock] / full["exact"]), 1, within)
            for clock, (label, _delay) in CLOCKS.items()
            if clock != "exact"
        ],
    )
    wire = NETEM_LIMIT * 1500 * 8 / (2 * ASKED_MS / 1e3) / 1e6
    study.value("netem-default", exact(wire), "Mbit/s")
    study.value("in-flight", exact(1e9 * 0.1 / 8 / 1500), "packets")
    study.table(
        "figure-4-rates",
        [
            {"clock": label, "t_s": round(float(t), 3), "tcp_mbits": round(float(rate), 2)}
            for clock, (label, _delay) in CLOCKS.items()
            for t, rate in zip(*rates[clock], strict=True)
        ],
    )


def _rates(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Payload's Mbit/s in each tenth of a second."""
    table = result.table("flows")
    return np.array(table["end_s"], dtype=float), np.array(table["bits_per_s"], dtype=float) / 1e6


def _delays_ms(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """The distribution of datagrams' delays: ms, and the share that took at most so long."""
    points = np.array(result.flow("a")["delay"]["cdf"], dtype=float)
    return points[:, 0] / 1e6, points[:, 1]


def draw_table_3(figures: Figures) -> None:
    """Table III."""
    rows = {row["where"]: row for row in figures.rows("table-3")}
    with paper():
        made = figure(3.1, width_in=6.5)
        axes = made.subplots()
        places = {kind: float(place) for place, kind in enumerate(EXPECTED)}
        rates = [rows["simulated"][kind] for kind in EXPECTED]
        axes.bar(list(places.values()), rates, 0.7, color=colour(0), alpha=0.45, label="simulated")
        for number, where in enumerate(PLACES):
            at = {kind: place + 0.2 * (number - 1) for kind, place in places.items()}
            label = "paper: Lyon, second interface between its first and Orsay"
            draw_paper(axes, figures.paper.values("table III", where), places=at, label=label)
        axes.set_xticks(list(places.values()), list(places))
        axes.set(ylabel="goodput of a gigabit port [Mbit/s]", ylim=(0, 1080))
        axes.grid(axis="x", visible=False)
        axes.set_axisbelow(True)
        axes.set_title("table III")
        legend_below(made)
        figures.add(made, "table-3", data=["table-3"])


def draw_figure_4(figures: Figures) -> None:
    """Figure 4."""
    rows = figures.rows("figure-4-rates")
    with paper():
        made = figure(3.6, width_in=7)
        axes = made.subplots()
        for number, (label, _delay) in enumerate(CLOCKS.values()):
            mine = [row for row in rows if row["clock"] == label]
            axes.plot(
                [row["t_s"] for row in mine],
                [row["tcp_mbits"] for row in mine],
                ("-", "--", ":")[number],
                color=colour(number),
                label=f"delay by a clock of {label}",
            )
        draw_paper(axes, figures.paper.values("4"))
        axes.set(xlim=(0, 8), ylim=(0, 1080), xlabel="time [s]", ylabel="goodput over 100 ms [Mbit/s]")
        axes.set_title("figure 4")
        legend_below(made, ncols=2)
        figures.add(made, "figure-4", data=["figure-4-rates"])
