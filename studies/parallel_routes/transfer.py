"""Figure 8 simulated: a file between two hosts with 10 GbE, over N routes of 1 Gbit/s, one of them longer.

TCP finds losses in three ways: after three duplicate acknowledgements (RFC 6675), after as many as reordering
adapts to (as Linux 2.6.22 did), and by time (RFC 8985). Its receive window grows with what arrives in
order (as Linux's does), or is 85 kB at most (the paper's default), or wide from the first round trip on.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import (
    Case,
    Figures,
    Measurement,
    Study,
    StudyFolder,
    at_least,
    at_most,
    holds_if,
    measured,
    near,
)
from longhaul.studies.drawing import colour, draw_paper, legend_below

SCENARIO = Path(__file__).parent / "transfer.yaml"
ROUTES = (2, 4, 8)
DIFFERENCES_US = (0, 25, 40, 60, 80, 100, 150, 200, 240, 300, 400, 600, 700, 760, 800, 1000)
CLAIMS = StudyFolder(Path(__file__).parent).claims
FLAT_US, FAR_US = (
    int(CLAIMS.numbers(each)[name]) for each, name in (("flat", "flat_us"), ("rapid-increase", "beyond_us"))
)
"""Up to the first the paper's transfers take no longer; at the second they take much longer."""
BEYOND_US = (400, 600, 1000)
DELAY_US = 10
MSS_BYTES, WIRE_BYTES = 8960, 9038
"""Of a packet of 9000 bytes with no options, and of its frame with preamble and gap."""
WIRE_US = WIRE_BYTES * 8 / 1000
"""Of a frame on 1 Gbit/s."""
RESEQUENCER = f"{CLAIMS.numbers('resequencer-simulated')['wait_ms']}ms"
VOLUME_GB, WHOLE_GB = 5, int(CLAIMS.numbers("theory-times")["whole_gb"])
"""Of transfers by the difference, and of those that are compared with the paper's theory."""


class Kind(NamedTuple):
    """How TCP finds losses, and its receive window."""

    recovery: str
    window: str


DUPLICATES, ADAPTIVE, TIME = (Kind(each, "tuned") for each in ("sack", "sack-adaptive", "rack"))
SMALL, WIDE = Kind("sack-adaptive", "85 kB"), Kind("sack-adaptive", "wide")
KINDS: Mapping[Kind, str] = {
    DUPLICATES: "three duplicates",
    ADAPTIVE: "duplicates, adapting",
    TIME: "by time (RACK)",
    SMALL: "adapting, window of 85 kB",
    WIDE: "adapting, window wide from the start",
}
WINDOWS: Mapping[str, Mapping[str, str]] = {
    "tuned": {},
    # Half of a buffer is offered.
    "85 kB": {"buffers": "170kB"},
    "wide": {"first_window": "900"},
}
"""A first window of 900 segments makes both ends begin with 8 MB, half of their buffers of 16 MiB."""


class Link(NamedTuple):
    """A curve's point: what is between the switches."""

    curve: str
    routes: int
    difference_us: int

    @property
    def models(self) -> dict[str, Any]:
        """The ``routes`` of the link."""
        if self.curve not in ("round robin", "resequenced"):
            rate = "10Gbit" if self.curve == "10 GbE" else "1Gbit"
            return {"policy": "flow-hash", "rate": rate, "delays": [f"{DELAY_US}us"] * 2}
        delays = [f"{DELAY_US}us"] * (self.routes - 1) + [f"{DELAY_US + self.difference_us}us"]
        again = {"resequence": {"wait": RESEQUENCER, "limit": "64MiB"}} if self.curve == "resequenced" else {}
        return {"policy": "round-robin", "rate": "1Gbit", "delays": delays, **again}


LINES = [Link("10 GbE", 1, 0), Link("flow-based", 1, 0), *(Link("round robin", n, 0) for n in ROUTES)]
"""Those of which there is a theory."""


def links(kind: Kind) -> Iterator[Link]:
    """Every point of every curve."""
    for routes in ROUTES:
        for difference in DIFFERENCES_US:
            yield Link("round robin", routes, difference)
            if difference in (0, FLAT_US, 1000) and kind.window == "tuned":
                yield Link("resequenced", routes, difference)


def theory_s(link: Link, gigabytes: float) -> float:
    """At the rate of the wire, with frames of 9038 bytes for 8960 of data."""
    rate = 10 if link.curve == "10 GbE" else link.routes
    return gigabytes * 8 / rate * WIRE_BYTES / MSS_BYTES


def simulate(
    study: Study, key: str, kind: Kind, points: Iterable[Link], gigabytes: float, seeds: int
) -> list[dict[str, Any]]:
    """Seconds and retransmissions of each point and seed."""
    every = list(points)

    def rows() -> list[dict[str, Any]]:
        swept = longhaul.sweep(
            SCENARIO,
            axes={"links.wan.forward.routes": [link.models for link in every]},
            params={"volume": f"{gigabytes:g}GB", "recovery": kind.recovery, **WINDOWS[kind.window]},
            repeat=seeds,
            runs=study.runs,
            report=False,
        )
        table = swept.table("parts")
        keys = ("variant", "item", "repeat", "goodput_bits_per_s", "retransmits")
        return [
            {
                **kind._asdict(),
                **every[variant]._asdict(),
                "gigabytes": gigabytes,
                "seed": repeat,
                "s": round(8e9 * gigabytes / goodput, 4),
                "retransmits": again,
            }
            for variant, item, repeat, goodput, again in zip(*(table[each] for each in keys), strict=True)
            if item == "flows.copy"
        ]

    return study.measured(f"transfers/{key}", rows) or []


class Took:
    """Seconds of transfers by kind and link."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._s: dict[tuple[Kind, Link], list[float]] = {}
        self._again: dict[tuple[Kind, Link], list[int]] = {}
        self.gigabytes = 0.0
        """Of each transfer."""
        for row in rows:
            self.gigabytes = row["gigabytes"]
            key = (
                Kind(row["recovery"], row["window"]),
                Link(row["curve"], row["routes"], row["difference_us"]),
            )
            self._s.setdefault(key, []).append(row["s"])
            self._again.setdefault(key, []).append(row["retransmits"])

    def of(self, kind: Kind, link: Link) -> Measurement:
        """Seconds, over seeds."""
        return measured(self._s[kind, link])

    def longer(self, kind: Kind, routes: int, difference_us: int) -> Measurement:
        """By what share a transfer in turn takes longer than without a difference."""
        base = self.of(kind, Link("round robin", routes, 0)).value
        found = self.of(kind, Link("round robin", routes, difference_us))
        return Measurement(found.value / base - 1, found.half_width / base, found.runs)

    def extremes(self, kind: Kind, link: Link) -> tuple[float, float]:
        """Seconds with the fastest and with the slowest seed."""
        every = self._s[kind, link]
        return min(every), max(every)

    def torn(self, kind: Kind, link: Link) -> bool:
        """Whether seeds differ by more than the claim on jitter allows."""
        least, most = self.extremes(kind, link)
        return most > CLAIMS.numbers("jitter-steady")["ratio"] * least

    def knee_us(self, kind: Kind, routes: int) -> int:
        """The largest difference up to which a transfer takes hardly longer."""
        longer = CLAIMS.numbers("small-window-tolerates")["longer"]
        good = [self.longer(kind, routes, each).value <= longer for each in DIFFERENCES_US]
        return DIFFERENCES_US[good.index(False) - 1 if False in good else -1]

    def orderly_us(self, kind: Kind, routes: int) -> int:
        """The largest difference up to which hardly anything is retransmitted: nothing is lost, after all."""
        most = self.gigabytes * 1e9 / MSS_BYTES / CLAIMS.numbers("first-retransmissions")["one_in"]
        good = [max(self._again[kind, Link("round robin", routes, each)]) <= most for each in DIFFERENCES_US]
        return DIFFERENCES_US[good.index(False) - 1 if False in good else -1]


def study_transfers(study: Study, *, seeds: int) -> None:
    """Simulate every point, evaluate the claims."""
    volume_gb, whole_gb = study.size((VOLUME_GB, WHOLE_GB), small=(0.05, 1))
    whole = simulate(study, "whole", ADAPTIVE, LINES, whole_gb, 1)
    study.table("transfers-100GB", whole)
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        rows += simulate(study, f"{kind.recovery}, {kind.window}", kind, links(kind), volume_gb, seeds)
    study.table("transfers-simulated", rows)
    took = Took(rows)
    _evaluate_theory(study, whole)
    _evaluate_differences(study, took)
    _evaluate_window(study, took)


def _evaluate_theory(study: Study, rows: list[dict[str, Any]]) -> None:
    took = Took(rows)
    within = study.numbers("theory-times")["within"]
    study.evaluate(
        "theory-times",
        [
            near(
                f"{link.curve} {link.routes}",
                Measurement(took.of(ADAPTIVE, link).value),
                theory_s(link, took.gigabytes),
                within,
                "s",
            )
            for link in LINES
        ],
    )


def _named(kind: Kind, routes: int, more: str = "") -> str:
    return f"{KINDS[kind]}, {routes} routes{more}"


def _evaluate_differences(study: Study, took: Took) -> None:
    paper_like = (DUPLICATES, ADAPTIVE, TIME, SMALL)
    most = study.numbers("flat")["longer"]
    study.evaluate(
        "flat",
        [
            at_most(_named(kind, routes), took.longer(kind, routes, FLAT_US), most, percent=True)
            for kind in paper_like
            for routes in ROUTES
        ],
    )
    least = study.numbers("rapid-increase")["longer"]
    study.evaluate(
        "rapid-increase",
        [
            at_least(_named(kind, routes), took.longer(kind, routes, FAR_US), least, percent=True)
            for kind in paper_like
            for routes in ROUTES
        ],
    )
    study.evaluate(
        "more-with-more-routes",
        [_rising(took, kind, difference) for kind in paper_like for difference in BEYOND_US],
    )
    limits_us = study.numbers("first-retransmissions").all("limits_us")
    study.evaluate(
        "first-retransmissions",
        [
            holds_if(
                f"{routes} routes",
                took.orderly_us(DUPLICATES, routes) == max(each for each in DIFFERENCES_US if each <= most),
                f"{took.orderly_us(DUPLICATES, routes)} µs",
            )
            for routes, most in zip(ROUTES, limits_us, strict=True)
        ],
    )
    ratio = study.numbers("resequencer-simulated")["ratio"]
    study.evaluate(
        "resequencer-simulated",
        [
            at_most(
                _named(kind, routes, f", {difference} µs"),
                _share(took.of(kind, link), theory_s(link, took.gigabytes)),
                ratio,
            )
            for kind in (DUPLICATES, ADAPTIVE, TIME)
            for routes in ROUTES
            for difference in (0, FLAT_US, 1000)
            for link in [Link("resequenced", routes, difference)]
        ],
    )
    study.evaluate("jitter-steady", [_steady(took, kind) for kind in KINDS])
    points = [(kind, link) for kind in KINDS for link in links(kind)]
    torn = sum(took.torn(kind, link) for kind, link in points)
    study.value("torn-points", Measurement(torn))
    study.value("points", Measurement(len(points)))


def _steady(took: Took, kind: Kind) -> Case:
    torn = [link for link in links(kind) if took.torn(kind, link)]
    text = ", ".join(
        f"{link.routes} routes at {link.difference_us} µs {least:.4g} to {most:.4g} s"
        for link in torn
        for least, most in [took.extremes(kind, link)]
    )
    return holds_if(KINDS[kind], not torn, text or "at every point")


def _share(found: Measurement, whole: float) -> Measurement:
    return Measurement(found.value / whole, found.half_width / whole, found.runs)


def _rising(took: Took, kind: Kind, difference_us: int) -> Case:
    found = [took.longer(kind, routes, difference_us) for routes in ROUTES]
    text = ", ".join(each.shown(percent=True) for each in found)
    rising = found[0].high < found[1].low and found[1].high < found[2].low
    return holds_if(f"{KINDS[kind]}, {difference_us} µs", rising, text)


def _evaluate_window(study: Study, took: Took) -> None:
    """What makes transfers slow: losses that are none, or the receive window."""
    study.table(
        "knees",
        [
            {
                "losses": KINDS[kind],
                **{f"{routes}_routes_us": took.knee_us(kind, routes) for routes in ROUTES},
            }
            for kind in KINDS
        ],
    )
    least = study.numbers("retransmission-is-the-cause")["longer"]
    study.evaluate(
        "retransmission-is-the-cause",
        [
            at_least(f"{routes} routes", took.longer(WIDE, routes, FAR_US), least, percent=True)
            for routes in ROUTES
        ],
    )
    knee_us = study.numbers("small-window-tolerates")["knee_us"]
    study.evaluate(
        "small-window-tolerates",
        [
            holds_if(
                f"{routes} routes",
                knee_us <= took.knee_us(SMALL, routes) <= FLAT_US,
                f"{took.knee_us(SMALL, routes)} µs",
            )
            for routes in ROUTES
        ],
    )
    full = {routes: took.of(SMALL, Link("round robin", routes, 0)) for routes in ROUTES}
    ratio = study.numbers("small-window-fills")["ratio"]
    study.evaluate(
        "small-window-fills",
        [
            at_most(
                f"{routes} routes",
                _share(found, theory_s(Link("round robin", routes, 0), took.gigabytes)),
                ratio,
            )
            for routes, found in full.items()
        ],
    )


def draw(figures: Figures) -> None:
    """Figure 8: a panel for each way to find losses; bars extend from the fastest seed to the slowest."""
    rows = figures.rows("transfers-simulated")
    took = Took(rows)
    at = sorted({row["difference_us"] for row in rows})
    with paper():
        made = figure(3.9, width_in=13)
        for axes, (kind, label) in zip(made.subplots(1, 5, sharey=True), KINDS.items(), strict=True):
            for link, dashes in ((LINES[0], "-"), (LINES[1], ":")):
                seconds = theory_s(link, took.gigabytes)
                axes.axhline(
                    seconds, color="0.45", linewidth=1.2, linestyle=dashes, label=f"{link.curve}, arithmetic"
                )
            for number, routes in enumerate(ROUTES):
                line = [Link("round robin", routes, each) for each in at]
                least, most = zip(*(took.extremes(kind, link) for link in line), strict=True)
                means = [took.of(kind, link).value for link in line]
                axes.errorbar(
                    at,
                    means,
                    yerr=[
                        [max(0, mean - low) for mean, low in zip(means, least, strict=True)],
                        [max(0, high - mean) for mean, high in zip(means, most, strict=True)],
                    ],
                    fmt="osv"[number] + "-",
                    markersize=3.5,
                    elinewidth=0.9,
                    capsize=1.5,
                    color=colour(number),
                    label=f"round robin over {routes}",
                )
                if kind.window == "tuned":
                    points = [each for each in (0, FLAT_US, 1000) if each in at]
                    again = [took.of(kind, Link("resequenced", routes, each)).value for each in points]
                    axes.plot(points, again, "x", markersize=6, color=colour(number))
            draw_paper(axes, figures.paper.values("8", "not degraded up to here"))
            axes.set(yscale="log", xlabel="one route is longer by [µs]")
            axes.set_title(label, fontsize=8.5)
            axes.set_yticks([4, 5, 10, 20, 40, 80], ["4", "5", "10", "20", "40", "80"])
            axes.minorticks_off()
        made.axes[0].set_ylabel(f"{took.gigabytes:g} GB take [s]")
        made.axes[0].plot([], [], "kx", label="the same, resequenced")
        legend_below(made, ncols=7)
        figures.add(made, "figure-8", data=["transfers-simulated"])
