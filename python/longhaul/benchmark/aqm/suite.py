"""The suite of queue disciplines, ``longhaul benchmark-aqm``."""

from longhaul.benchmark.aqm import charts
from longhaul.benchmark.aqm.cases import SCENARIOS
from longhaul.benchmark.aqm.measures import MEASURES, OF_KIND
from longhaul.benchmark.aqm.queues import check
from longhaul.benchmark.suite import Chapter, Score, Suite, Wording


def _of_flows(_queue: str) -> tuple[str, ...]:
    """A queue needs no algorithm of its own; cases name those of their flows."""
    return ()


_SCORECARD = (
    Score("Reno: queueing delay", "one transfer", (("tcp-friendly", ""),), "queue_mean"),
    Score("Reno: goodput", "one transfer", (("tcp-friendly", ""),), "goodput"),
    Score("CUBIC: queueing delay", "one transfer", (("aggressive", ""),), "queue_mean"),
    Score("CUBIC: goodput", "one transfer", (("aggressive", ""),), "goodput"),
    Score("overload: delay", "datagrams above capacity", (("unresponsive", "alone"),), "queue_mean"),
    Score("TCP beside UDP", "datagrams of 7 Mbit/s", (("unresponsive", "beside TCP"),), "tcp_goodput"),
    Score(
        "short transfer, 95 %",
        "40 packets, initial window 10",
        (("initial-window", "10 packets"),),
        "fct_p95",
    ),
    Score("share, RTT 20 / 100 ms", "ratio of goodput", (("rtt-fairness", "20 ms"),), "ratio"),
    Score("share, RTT 200 / 100 ms", "ratio of goodput", (("rtt-fairness", "200 ms"),), "ratio"),
    Score("web object, 95 %", "bursts IV", (("bursts", "IV"),), "fct_p95"),
    Score("frames damaged", "bursts IV", (("bursts", "IV"),), "frames"),
    Score("heavy load: delay", "19 transfers", (("congestion", "heavy"),), "queue_mean"),
    Score("heavy load: lost", "19 transfers", (("congestion", "heavy"),), "loss"),
    Score("flows lose together", "19 transfers", (("congestion", "heavy"),), "sync"),
    Score(
        "capacity falls: delay", "worst after 100 -> 10 Mbit/s", (("varying-capacity", "slow"),), "queue_max"
    ),
    Score("VoIP jitter", "traffic mix", (("mix", ""),), "voip_jitter"),
    Score("small packets lost", "both directions", (("both-ways", ""),), "small_loss"),
)
_CHAPTERS = (
    Chapter(
        "Transport protocols",
        ("tcp-friendly", "aggressive", "unresponsive", "background"),
        "Packets of the first run.",
        lambda content: [charts.distributions(content)],
    ),
    Chapter("Initial windows", ("initial-window",), "", lambda _content: []),
    Chapter(
        "Fairness of round-trip times",
        ("rtt-fairness",),
        "1: both flows have the same.",
        lambda content: [charts.round_trips(content)],
    ),
    Chapter(
        "Burst absorption",
        ("bursts",),
        "To the left is better.",
        lambda content: [charts.real_time(content, "bursts")],
    ),
    Chapter(
        "Stability",
        ("congestion", "varying-load", "varying-capacity"),
        "Above: three levels of congestion. Below: the first run, while the load grows, and while the "
        "capacity falls to a tenth and returns.",
        lambda content: [
            charts.levels(content),
            charts.course(content, "varying-load", "varying load"),
            charts.course(content, "varying-capacity slow", "varying capacity"),
        ],
    ),
    Chapter(
        "Traffic profiles",
        ("mix", "both-ways"),
        "To the left is better.",
        lambda content: [charts.real_time(content, "mix")],
    ),
)
_OVERVIEW = Chapter(
    "Latency against goodput",
    tuple(dict.fromkeys(name for each in _CHAPTERS for name in each.scenarios)),
    "Up and to the left is better. Small dots are runs, and large marks their medians; a contour is the "
    "1-sigma ellipse of the normal distribution that fits the runs best (RFC 7928, section 2.7).",
    lambda content: [charts.trade_off(content)],
    tables=False,
)

_METHOD = (
    "One congested link of 10 Mbit/s between two routers, with the queue under test in both directions, and "
    "a round-trip time of 100 ms unless stated. Every queue has room for one bandwidth-delay product, unless "
    "its name says otherwise. Live transfers are iperf3 and senders of Longhaul through this host's kernel, "
    "simulated ones Longhaul's model of TCP; both cross the same model of the queue. All measures are "
    "computed from the record of every packet of the congested link, and from the completion times of "
    "transfers."
)
AQM = Suite(
    name="benchmark-aqm",
    words=Wording(
        subject="queue",
        subjects="queues",
        source="Queue disciplines by the scenarios and metrics of RFC 7928, Characterization Guidelines for "
        "Active Queue Management",
        specification="the RFC",
        series="columns",
        method=_METHOD,
    ),
    scenarios=SCENARIOS,
    measures=MEASURES,
    of_kind=OF_KIND,
    scorecard=_SCORECARD,
    chapters=(_OVERVIEW, *_CHAPTERS),
    check=check,
    needs=_of_flows,
)
