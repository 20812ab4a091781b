"""The suite of congestion-control algorithms, ``longhaul benchmark-cc``."""

from collections.abc import Sequence

from longhaul.benchmark.algorithms import is_simulated, kernel_algorithms
from longhaul.benchmark.cc import charts
from longhaul.benchmark.cc.cases import SCENARIOS
from longhaul.benchmark.cc.charts import BASIC
from longhaul.benchmark.cc.measures import HORIZON, MEASURES, OF_KIND, PAIRED, shares
from longhaul.benchmark.suite import Chapter, Score, Size, Suite, Wording
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

DRAFT_STRETCH = 5.0
"""How much longer runs are at the draft's scale than those that suit a live machine."""


def size(most_bits_per_s: int, *, full: bool, paper: bool) -> Size:
    """The size with links of at most this rate; ``paper``: the rates, cases and times of the draft."""
    if paper:
        return Size(most_bits_per_s=None, every_case=True, stretch=DRAFT_STRETCH)
    return Size(most_bits_per_s=most_bits_per_s, every_case=full)


def check(controls: Sequence[str]) -> None:
    """Raise LonghaulError for an algorithm that is neither modelled nor in this kernel."""
    for control in controls:
        if not is_simulated(control) and control not in kernel_algorithms():
            kernel = ", ".join(kernel_algorithms()) or "none"
            raise LonghaulError(
                Code.ALGORITHM_UNKNOWN,
                f'unknown congestion-control algorithm "{control}"',
                remedy=f"name one of the models (docs/models/README.md), or of this kernel: {kernel}",
                exit_code=2,
            )


def _itself(control: str) -> tuple[str, ...]:
    return (control,)


_SCORECARD = (
    Score("link used", "mean of {} links", tuple((name, "") for name in BASIC), "utilisation"),
    Score("packets lost", "mean of {} links", tuple((name, "") for name in BASIC), "loss"),
    Score("queueing delay", "access, queue 100 ms", (("access", ""),), "queue_mean"),
    Score("equal round trips", "smaller / larger share", (("fairness", "40 and 40 ms"),), "ratio"),
    Score("160 against 40 ms", "smaller / larger share", (("rtt-fairness", "160 and 40 ms"),), "ratio"),
    Score("three bottlenecks", "long / short paths", (("bottlenecks", ""),), "long_share"),
    Score("shares fair after", "ramp-up", (("ramp-up", "80 and 80 ms"),), "convergence"),
    Score("takes 80 % after", "release", (("release", ""),), "reach_80"),
    Score("gives way after", "arrival", (("arrival", ""),), "yielded"),
    Score("Reno keeps", "impact, of its share", (("impact", "beside reno"),), "harm"),
    Score("CUBIC keeps", "impact, of its share", (("impact", "beside cubic"),), "harm"),
)

_CHAPTERS = (
    Chapter(
        "Effectiveness",
        BASIC,
        "Up and to the left is better: a full link and a short queue. Filled markers are live, hollow ones "
        "simulated, with 95 % intervals.",
        lambda content: [charts.effect(content)],
    ),
    Chapter(
        "Delay against throughput",
        ("trade-off",),
        "The access link with growing queues, from left to right along each line.",
        lambda content: [charts.trade_off(content)],
    ),
    Chapter(
        "Convergence",
        ("ramp-up",),
        "The first run. A second transfer joins at the dotted line.",
        lambda content: [charts.first_over_time(content, "ramp-up")],
    ),
    Chapter(
        "Responsiveness",
        ("release", "arrival"),
        "The first run. At the dotted line datagrams that took three quarters of the link end, or come.",
        lambda content: [charts.first_over_time(content, name) for name in ("release", "arrival")],
    ),
    Chapter(
        "Friendliness",
        ("impact",),
        "Three transfers under test beside three of standard TCP, against six of standard TCP. At "
        "(1, 1) nothing changes; left of 1 standard TCP loses.",
        lambda content: [charts.friendliness(content)],
    ),
    Chapter(
        "Fairness",
        ("fairness", "rtt-fairness", "bottlenecks"),
        "1: both have the same.",
        lambda content: [charts.sharing(content)],
    ),
)

_METHOD = (
    "Live transfers are iperf3 through this host's kernel, simulated ones Longhaul's model of TCP, on the "
    "same networks with the same times of starting. Everything is counted in the network, not by the "
    "programs. The draft's recorded traffic is replaced by long transfers. Where its rates are scaled down, "
    "delays and queues (as time at the rate) are kept."
)
CC = Suite(
    name="benchmark-cc",
    words=Wording(
        subject="control",
        subjects="controls",
        source="Congestion controls by the scenarios of draft-irtf-iccrg-tcpeval-01 and the metrics "
        "of RFC 5166",
        specification="the draft",
        series="mbit_per_s",
        method=_METHOD,
    ),
    scenarios=SCENARIOS,
    measures=MEASURES,
    of_kind=OF_KIND,
    scorecard=_SCORECARD,
    chapters=_CHAPTERS,
    check=check,
    needs=_itself,
    horizon=HORIZON,
    paired=PAIRED,
    pair=shares,
)
