"""Figure 8 at the paper's size: 100 GB between two hosts with 10 GbE, over N routes of 1 Gbit/s, simulated.

One route is longer than the others. TCP recovers losses in three ways: after three duplicate acknowledgements
(RFC 6675), after as many as reordering has taught it (as Linux 2.6.22 did), and by time (RFC 8985).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

SCENARIO = Path(__file__).parent / "transfer.yaml"
ROUTES = (2, 4, 8)
DIFFERENCES_US = (0, 25, 40, 60, 80, 100, 150, 200, 240, 300, 400, 600, 800, 1000)
RECOVERIES = {
    "sack": "by three duplicates",
    "sack-adaptive": "by duplicates, adapting",
    "rack": "by time (RACK)",
}
DELAY_US = 10
MSS_BYTES, WIRE_BYTES = 8960, 9038
"""Of a packet of 9000 bytes with no options, and of its frame with preamble and gap."""
RESEQUENCER = "2ms"

Routes = Mapping[str, Any]


def in_turn(routes: int, difference_us: int, *, wait: str | None = None) -> Routes:
    """Round robin over so many routes, the last of which is longer; ``wait`` is a resequencer's."""
    delays = [f"{DELAY_US}us"] * (routes - 1) + [f"{DELAY_US + difference_us}us"]
    again = {"resequence": {"wait": wait, "limit": "64MiB"}} if wait else {}
    return {"policy": "round-robin", "rate": "1Gbit", "delays": delays, **again}


def one_route(rate: str) -> Routes:
    """Every flow keeps to one route."""
    return {"policy": "flow-hash", "rate": rate, "delays": [f"{DELAY_US}us"] * 2}


def variants() -> Iterator[tuple[str, int, int, Routes]]:
    """Each curve's name, number of routes and difference, and what the link then is."""
    yield "10 GbE", 1, 0, one_route("10Gbit")
    yield "flow-based", 1, 0, one_route("1Gbit")
    for routes in ROUTES:
        for difference in DIFFERENCES_US:
            yield "round robin", routes, difference, in_turn(routes, difference)
            if difference in (0, 300, 1000):
                yield "resequenced", routes, difference, in_turn(routes, difference, wait=RESEQUENCER)


def study_transfers(study: Study, *, volume: str) -> None:
    """Simulate every variant under every recovery, draw the figure, judge the claims."""
    every = list(variants())
    swept = longhaul.sweep(
        SCENARIO,
        axes={
            "links.wan.forward.routes": [laws for _name, _routes, _difference, laws in every],
            "recovery": list(RECOVERIES),
        },
        params={"volume": volume},
        runs=study.directory / "runs",
        report=False,
    )
    table = swept.table("parts")
    rows: list[dict[str, Any]] = []
    for variant, item, goodput, again in zip(
        *(table[key] for key in ("variant", "item", "goodput_bits_per_s", "retransmits")), strict=True
    ):
        if item != "flows.copy":
            continue
        name, routes, difference, _laws = every[variant // len(RECOVERIES)]
        rows.append(
            {
                "curve": name,
                "routes": routes,
                "difference_us": difference,
                "recovery": list(RECOVERIES)[variant % len(RECOVERIES)],
                "goodput_bits_per_s": goodput,
                "retransmits": again,
            }
        )
    study.table("transfers-simulated", rows)
    took = Took(rows, bytes_of(volume))
    _judge(study, took)
    _draw(study, took)


class Took:
    """Seconds of each transfer."""

    def __init__(self, rows: list[dict[str, Any]], size_bytes: float) -> None:
        self.size_bytes = size_bytes
        keys = ("curve", "routes", "difference_us", "recovery")
        self._seconds = {
            tuple(row[key] for key in keys): 8 * size_bytes / row["goodput_bits_per_s"] for row in rows
        }
        self._again = {tuple(row[key] for key in keys): row["retransmits"] for row in rows}

    def of(self, curve: str, routes: int, difference_us: int, recovery: str) -> float:
        """One transfer."""
        return self._seconds[curve, routes, difference_us, recovery]

    def curve(self, curve: str, routes: int, recovery: str) -> dict[int, float]:
        """A transfer for each difference."""
        wanted = (curve, routes, recovery)
        return {key[2]: value for key, value in self._seconds.items() if (key[0], key[1], key[3]) == wanted}

    def theory(self, rate_bits_per_s: float) -> float:
        """At a rate of the wire, with frames of 9038 bytes for 8960 of data."""
        return self.size_bytes * 8 / rate_bits_per_s * WIRE_BYTES / MSS_BYTES

    def orderly_us(self, routes: int, recovery: str) -> int:
        """The largest difference up to which hardly anything is sent again: nothing is lost, after all."""
        most = self.size_bytes / MSS_BYTES / 1000
        again = [
            key[2]
            for key, count in self._again.items()
            if key[0] == "round robin" and count > most and (key[1], key[3]) == (routes, recovery)
        ]
        return max(each for each in DIFFERENCES_US if each < min(again, default=10**9))

    def knee_us(self, routes: int, recovery: str) -> int:
        """The largest difference up to which a transfer takes at most a tenth more than without one."""
        curve = self.curve("round robin", routes, recovery)
        good = [difference for difference, value in curve.items() if value <= 1.1 * curve[0]]
        broken = [difference for difference in curve if difference not in good]
        return max(difference for difference in good if not broken or difference < min(broken))


def bytes_of(volume: str) -> float:
    """Of "100GB"."""
    return float(volume.removesuffix("GB")) * 1e9


def _judge(study: Study, took: Took) -> None:
    lines = [("10 GbE", 1, 10e9), ("flow-based", 1, 1e9)]
    lines += [("round robin", routes, routes * 1e9) for routes in ROUTES]
    for curve, routes, rate in lines:
        found = took.of(curve, routes, 0, "sack-adaptive")
        study.say(f"{curve}, {routes} routes, no difference: {found:.1f} s; theory {took.theory(rate):.1f} s")
    study.claim(
        "without a difference all are within 2 % of the wire's arithmetic",
        all(
            abs(took.of(curve, routes, 0, each) / took.theory(rate) - 1) < 0.02
            for curve, routes, rate in lines
            for each in RECOVERIES
        ),
    )
    for recovery, label in RECOVERIES.items():
        knees = [took.knee_us(routes, recovery) for routes in ROUTES]
        study.say(
            f"losses found {label}: up to {', '.join(map(str, knees))} us cost nothing over 2, 4, 8 routes"
        )
    study.claim(
        "with three duplicates packets are sent again from where three overtake one: 216, 72 and 31 us",
        [took.orderly_us(routes, "sack") for routes in ROUTES]
        == [max(each for each in DIFFERENCES_US if each <= most) for most in (216, 72, 31)],
    )
    study.claim(
        "up to 300 us cost nothing if TCP learns of reordering, as Linux 2.6.22's did (the paper: flat)",
        all(took.knee_us(routes, "sack-adaptive") >= 300 for routes in ROUTES),
    )
    study.claim(
        "at 1000 us transfers take longer, and the more routes there are, the more (the paper: the same)",
        _factors(took)[0] > 1.1 and _factors(took) == sorted(_factors(took)),
    )
    study.claim(
        f"a resequencer that waits {RESEQUENCER} gives all of it back, to within 2 %",
        all(
            took.of("resequenced", routes, difference, each) < 1.02 * took.theory(routes * 1e9)
            for routes in ROUTES
            for difference in (0, 300, 1000)
            for each in RECOVERIES
        ),
    )


def _factors(took: Took) -> list[float]:
    """How many times longer transfers take at 1000 us than at 0."""
    curves = [took.curve("round robin", routes, "sack-adaptive") for routes in ROUTES]
    return [curve[1000] / curve[0] for curve in curves]


def _draw(study: Study, took: Took) -> None:
    with paper():
        made = figure(3.8, width_in=9)
        for axes, (recovery, label) in zip(made.subplots(1, 3, sharey=True), RECOVERIES.items(), strict=True):
            for curve, rate, dashes in (("10 GbE", 10e9, "-"), ("flow-based", 1e9, "--")):
                axes.axhline(took.theory(rate), color="0.5", linestyle=dashes, label=f"{curve}, theory")
            for number, routes in enumerate(ROUTES):
                points = took.curve("round robin", routes, recovery)
                again = took.curve("resequenced", routes, recovery)
                axes.plot(
                    list(points),
                    list(points.values()),
                    "osv"[number] + "-",
                    markersize=4,
                    color=f"C{number}",
                    label=f"in turn over {routes}",
                )
                axes.plot(list(again), list(again.values()), "x", markersize=6, color=f"C{number}")
            axes.set(yscale="log", xlabel="one route is longer by [us]")
            axes.set_title(f"losses found {label}")
            axes.set_yticks([100, 200, 400, 800, 1600], ["100", "200", "400", "800", "1600"])
            axes.minorticks_off()
            if recovery == "sack":
                axes.set_ylabel(f"{took.size_bytes / 1e9:g} GB take [s]")
            if recovery == "sack-adaptive":
                axes.plot([], [], "kx", label="the same, resequenced")
                axes.legend(loc="upper left", fontsize=7)
        study.figure(made, "transfers")
