"""Figure 8 simulated: a file between two hosts with 10 GbE, over N routes of 1 Gbit/s, one of them longer.

TCP finds losses in three ways: after three duplicate acknowledgements (RFC 6675), after as many as reordering
adapts to (as Linux 2.6.22 did), and by time (RFC 8985). Its receive window grows with what arrives in
order (as Linux's does), or is 85 kB at most (the paper's default), or wide from the first round trip on.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judging import Case, Found, at_least, at_most, between, judged, measured
from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

SCENARIO = Path(__file__).parent / "transfer.yaml"
ROUTES = (2, 4, 8)
DIFFERENCES_US = (0, 25, 40, 60, 80, 100, 150, 200, 240, 300, 400, 600, 700, 760, 800, 1000)
FLAT_US = 300
"""Up to which the paper's transfers take no longer."""
BEYOND_US = (400, 600, 1000)
DELAY_US = 10
MSS_BYTES, WIRE_BYTES = 8960, 9038
"""Of a packet of 9000 bytes with no options, and of its frame with preamble and gap."""
WIRE_US = WIRE_BYTES * 8 / 1000
"""Of a frame on 1 Gbit/s."""
RESEQUENCER = "2ms"
VOLUME_GB, WHOLE_GB = 5, 100
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
    study: Study, key: str, kind: Kind, points: Iterable[Link], gigabytes: int, seeds: int
) -> list[dict[str, Any]]:
    """Seconds and retransmissions of each point and seed."""
    every = list(points)

    def rows() -> list[dict[str, Any]]:
        swept = longhaul.sweep(
            SCENARIO,
            axes={"links.wan.forward.routes": [link.models for link in every]},
            params={"volume": f"{gigabytes}GB", "recovery": kind.recovery, **WINDOWS[kind.window]},
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
        for row in rows:
            key = (
                Kind(row["recovery"], row["window"]),
                Link(row["curve"], row["routes"], row["difference_us"]),
            )
            self._s.setdefault(key, []).append(row["s"])
            self._again.setdefault(key, []).append(row["retransmits"])

    def of(self, kind: Kind, link: Link) -> Found:
        """Seconds, over seeds."""
        return measured(self._s[kind, link])

    def longer(self, kind: Kind, routes: int, difference_us: int) -> Found:
        """By what share a transfer in turn takes longer than without a difference."""
        base = self.of(kind, Link("round robin", routes, 0)).value
        found = self.of(kind, Link("round robin", routes, difference_us))
        return Found(found.value / base - 1, found.half_width / base, found.runs)

    def extremes(self, kind: Kind, link: Link) -> tuple[float, float]:
        """Seconds with the fastest and with the slowest seed."""
        every = self._s[kind, link]
        return min(every), max(every)

    def torn(self, kind: Kind, link: Link) -> bool:
        """Whether seeds differ by more than 1 %."""
        least, most = self.extremes(kind, link)
        return most > 1.01 * least

    def knee_us(self, kind: Kind, routes: int) -> int:
        """The largest difference up to which a transfer takes at most a twentieth longer."""
        good = [self.longer(kind, routes, each).value <= 0.05 for each in DIFFERENCES_US]
        return DIFFERENCES_US[good.index(False) - 1 if False in good else -1]

    def orderly_us(self, kind: Kind, routes: int) -> int:
        """The largest difference up to which hardly anything is retransmitted: nothing is lost, after all."""
        most = VOLUME_GB * 1e9 / MSS_BYTES / 1000
        good = [max(self._again[kind, Link("round robin", routes, each)]) <= most for each in DIFFERENCES_US]
        return DIFFERENCES_US[good.index(False) - 1 if False in good else -1]


def study_transfers(study: Study, *, seeds: int) -> None:
    """Simulate every point, draw the figure, judge the claims."""
    whole = simulate(study, "whole", ADAPTIVE, LINES, WHOLE_GB, 1)
    study.table("transfers-100GB", whole)
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        rows += simulate(study, f"{kind.recovery}, {kind.window}", kind, links(kind), VOLUME_GB, seeds)
    study.table("transfers-simulated", rows)
    took = Took(rows)
    _judge_theory(study, whole)
    _judge_differences(study, took)
    _judge_window(study, took)
    _draw(study, took)


def _judge_theory(study: Study, rows: list[dict[str, Any]]) -> None:
    took = Took(rows)
    study.claim(
        "100 GB take the theoretical time over a 10 GbE route, over one route, and in turn over 2, 4 and 8",
        place="figure 8, theory lines",
        rule=f"{WHOLE_GB} GB without a difference take within 2 % of the wire's arithmetic; deterministic",
        cases=[
            between(
                f"{link.curve} {link.routes}",
                Found(took.of(ADAPTIVE, link).value),
                0.98 * theory_s(link, WHOLE_GB),
                1.02 * theory_s(link, WHOLE_GB),
                "s",
            )
            for link in LINES
        ],
        over="the routes",
    )


def _named(kind: Kind, routes: int, more: str = "") -> str:
    return f"{KINDS[kind]}, {routes} routes{more}"


def _judge_differences(study: Study, took: Took) -> None:
    paper_like = (DUPLICATES, ADAPTIVE, TIME, SMALL)
    over = "how TCP finds losses, its receive window, and the number of routes"
    study.claim(
        f"the time in turn is not degraded within {FLAT_US} us",
        place="section 4.2, figure 8",
        rule=f"at {FLAT_US} us a transfer takes at most 5 % longer than without a difference; 95 % intervals"
        " over seeds",
        cases=[
            at_most(_named(kind, routes), took.longer(kind, routes, FLAT_US), 0.05, percent=True)
            for kind in paper_like
            for routes in ROUTES
        ],
        over=over,
    )
    study.claim(
        f"it increases rapidly beyond {FLAT_US} us",
        place="section 4.2, figure 8",
        rule="at 600 us a transfer takes at least 10 % longer than without a difference",
        cases=[
            at_least(_named(kind, routes), took.longer(kind, routes, 600), 0.1, percent=True)
            for kind in paper_like
            for routes in ROUTES
        ],
        over=over,
    )
    study.claim(
        "the more, the more routes there are",
        place="section 4.2, figure 8",
        rule="the share by which a transfer takes longer rises from 2 to 4 to 8 routes, at each difference",
        cases=[_rising(took, kind, difference) for kind in paper_like for difference in BEYOND_US],
        over="how TCP finds losses, its receive window, and the difference",
    )
    study.claim(
        "with three duplicates, packets are retransmitted from where three overtake one: 216, 72 and 31 us",
        place="ours",
        rule="the largest difference tried with less than one retransmission in a thousand packets",
        cases=[
            judged(
                f"{routes} routes",
                took.orderly_us(DUPLICATES, routes) == max(each for each in DIFFERENCES_US if each <= most),
                f"{took.orderly_us(DUPLICATES, routes)} us",
            )
            for routes, most in zip(ROUTES, (216, 72, 31), strict=True)
        ],
        over="the number of routes",
    )
    study.claim(
        f"a resequencer that waits {RESEQUENCER} gives all of it back",
        place="ours",
        rule="transfers take at most 2 % longer than the wire's arithmetic",
        cases=[
            at_most(
                _named(kind, routes, f", {difference} us"),
                _share(took.of(kind, link), theory_s(link, VOLUME_GB)),
                1.02,
            )
            for kind in (DUPLICATES, ADAPTIVE, TIME)
            for routes in ROUTES
            for difference in (0, FLAT_US, 1000)
            for link in [Link("resequenced", routes, difference)]
        ],
        over="the condition",
    )
    study.claim(
        "hosts' jitter makes no difference",
        place="ours",
        rule="at each point the slowest seed takes at most 1 % longer than the fastest; seeds vary the delays"
        " of 5 us of hosts by 0.5 us",
        cases=[_steady(took, kind) for kind in KINDS],
        over="how TCP finds losses, its receive window",
    )
    points = [(kind, link) for kind in KINDS for link in links(kind)]
    torn = sum(took.torn(kind, link) for kind, link in points)
    study.value("torn-points", Found(torn))
    study.value("points", Found(len(points)))


def _steady(took: Took, kind: Kind) -> Case:
    torn = [link for link in links(kind) if took.torn(kind, link)]
    text = ", ".join(
        f"{link.routes} routes at {link.difference_us} us {least:.4g} to {most:.4g} s"
        for link in torn
        for least, most in [took.extremes(kind, link)]
    )
    return judged(KINDS[kind], not torn, text or "at every point")


def _share(found: Found, whole: float) -> Found:
    return Found(found.value / whole, found.half_width / whole, found.runs)


def _rising(took: Took, kind: Kind, difference_us: int) -> Case:
    found = [took.longer(kind, routes, difference_us) for routes in ROUTES]
    text = ", ".join(each.shown(percent=True) for each in found)
    rising = found[0].high < found[1].low and found[1].high < found[2].low
    return judged(f"{KINDS[kind]}, {difference_us} us", rising, text)


def _judge_window(study: Study, took: Took) -> None:
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
    study.claim(
        "it is TCP's retransmission control that makes the throughput low: reordering is taken for loss",
        place="section 4.2",
        rule="for a TCP that adapts, transfers at 600 us take at least 10 % longer even if the receive window"
        " is wide from the start (if not, a window that does not grow makes them slow, not losses)",
        cases=[
            at_least(f"{routes} routes", took.longer(WIDE, routes, 600), 0.1, percent=True)
            for routes in ROUTES
        ],
        over="the number of routes",
    )
    study.claim(
        "a receive window of 85 kB tolerates a few reorderings",
        place="section 4.2",
        rule=f"with that window the knee (at most 5 % longer) is at 150 to {FLAT_US} us",
        cases=[
            judged(
                f"{routes} routes",
                150 <= took.knee_us(SMALL, routes) <= FLAT_US,
                f"{took.knee_us(SMALL, routes)} us",
            )
            for routes in ROUTES
        ],
        over="the number of routes",
    )
    full = {routes: took.of(SMALL, Link("round robin", routes, 0)) for routes in ROUTES}
    study.claim(
        "a receive window of 85 kB fills the routes where they do not differ",
        place="ours",
        rule="without a difference a transfer takes at most 5 % longer than the wire's arithmetic",
        cases=[
            at_most(
                f"{routes} routes",
                _share(found, theory_s(Link("round robin", routes, 0), VOLUME_GB)),
                1.05,
            )
            for routes, found in full.items()
        ],
        over="the number of routes",
    )


def _draw(study: Study, took: Took) -> None:
    with paper():
        made = figure(3.6, width_in=13)
        for axes, (kind, label) in zip(made.subplots(1, 5, sharey=True), KINDS.items(), strict=True):
            for link, dashes in ((LINES[0], "-"), (LINES[1], "--")):
                seconds = theory_s(link, VOLUME_GB)
                axes.axhline(seconds, color="0.5", linestyle=dashes, label=f"{link.curve}, theory")
            for number, routes in enumerate(ROUTES):
                line = [Link("round robin", routes, each) for each in DIFFERENCES_US]
                points = [took.of(kind, link).value for link in line]
                style = {"markersize": 3.5, "color": f"C{number}"}
                axes.plot(
                    DIFFERENCES_US, points, "osv"[number] + "-", label=f"round robin over {routes}", **style
                )
                least, most = zip(*(took.extremes(kind, link) for link in line), strict=True)
                axes.vlines(DIFFERENCES_US, least, most, color=f"C{number}", linewidth=0.9)
                if kind.window == "tuned":
                    at = (0, FLAT_US, 1000)
                    again = [took.of(kind, Link("resequenced", routes, each)).value for each in at]
                    axes.plot(at, again, "x", markersize=6, color=f"C{number}")
            axes.axvline(FLAT_US, color="0.8", linewidth=0.8)
            axes.set(yscale="log", xlabel="one route is longer by [µs]")
            axes.set_title(label, fontsize=8.5)
            axes.set_yticks([4, 5, 10, 20, 40, 80], ["4", "5", "10", "20", "40", "80"])
            axes.minorticks_off()
        made.axes[0].set_ylabel(f"{VOLUME_GB} GB take [s]")
        made.axes[0].plot([], [], "kx", label="the same, resequenced")
        shown = made.axes[0].get_legend_handles_labels()
        made.legend(*shown, loc="outside lower center", ncols=6, fontsize=7.5)
        study.figure(made, "transfers", data=["transfers-simulated"])
