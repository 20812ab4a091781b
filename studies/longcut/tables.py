"""Tables I to V, and what the paper says of them."""

from collections.abc import Mapping
from itertools import combinations

from playing import KINDS

from longhaul.report.plotting import figure, paper
from longhaul.scenario.traces.files import read_traces
from longhaul.scenario.traces.statistics import summaries
from longhaul.studies import Case, Study, holds_if

HOSTS = ("benedict", "clustis", "psgw", "roadrunner", "vvgw")
SITE = frozenset(("psgw", "vvgw"))
"""These two are at one site: no WAN between them."""

Pair = tuple[str, str]
Means = Mapping[str, Mapping[Pair, float]]
"""By kind and direction."""


def means() -> tuple[dict[str, dict[Pair, float]], dict[str, dict[Pair, float]]]:
    """Two-way latency in ms and bandwidth in Mbit/s of each kind."""
    latency: dict[str, dict[Pair, float]] = {kind: {} for kind in KINDS}
    rate: dict[str, dict[Pair, float]] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        for trace in read_traces(f"longcut:{kind}").traces:
            found = {each.column: each.mean for each in summaries(trace)}
            assert trace.way is not None
            latency[kind][trace.way.ends] = found["rtt_ms"]
            rate[kind][trace.way.ends] = found["rate_mbit"]
    return latency, rate


def study_tables(study: Study) -> None:
    """Check what the paper says of its tables; draw them."""
    latency, rate = means()
    study.table(
        "tables",
        [
            {"from": pair[0], "to": pair[1]}
            | {
                f"{kind}_{unit}": round(values[kind][pair], 2)
                for unit, values in (("rtt_ms", latency), ("rate_mbit", rate))
                for kind in KINDS
            }
            for pair in sorted(latency["nws"])
        ],
    )
    tools = {"nws": "NWS", "constant": "EventSpace"}
    apart = {kind: (asymmetry(latency[kind]), asymmetry(rate[kind])) for kind in tools}
    alike = study.numbers("latency-symmetric")["alike"]
    study.evaluate(
        "latency-symmetric",
        [_most(name, [value < alike for value in apart[kind][0].values()]) for kind, name in tools.items()],
    )
    study.evaluate(
        "bandwidth-asymmetric",
        [_most(name, [value >= alike for value in apart[kind][1].values()]) for kind, name in tools.items()],
    )
    for kind, name in tools.items():
        latencies = apart[kind][0]
        worst = max((pair for pair in latencies if set(pair) != SITE), key=latencies.__getitem__)
        study.note(
            f"{name}: between sites latency differs most for {' and '.join(worst)}: {latencies[worst]:.0%}"
        )
    share = study.numbers("finer-is-slower")["share"]
    finer = [latency["constant"][pair] > value for pair, value in latency["nws"].items()]
    study.evaluate(
        "finer-is-slower", holds_if("", sum(finer) > share * len(finer), f"{sum(finer)} of {len(finer)}")
    )
    more = {pair: rate["constant"][pair] > value for pair, value in rate["nws"].items()}
    study.evaluate(
        "more-bandwidth",
        [
            holds_if(
                where,
                all(found),
                f"{sum(found)} of {len(found)}",
            )
            for where, found in (
                ("between sites", [each for pair, each in more.items() if set(pair) != SITE]),
                (
                    "within the site of psgw and vvgw",
                    [each for pair, each in more.items() if set(pair) == SITE],
                ),
            )
        ],
    )
    draw(study, latency, rate)


def _most(name: str, held: list[bool]) -> Case:
    return holds_if(name, sum(held) > len(held) / 2, f"{sum(held)} of {len(held)}")


def asymmetry(values: Mapping[Pair, float]) -> dict[Pair, float]:
    """By how much the larger of the two ways is above the smaller."""
    found = {}
    for here, there in combinations(HOSTS, 2):
        both = values[here, there], values[there, here]
        found[here, there] = max(both) / min(both) - 1
    return found


def draw(study: Study, latency: Means, rate: Means) -> None:
    """Each pair a group: both ways, by NWS and by EventSpace."""
    pairs = list(combinations(HOSTS, 2))
    names = [f"{here[:4]}-{there[:4]}" for here, there in pairs]
    with paper():
        made = figure(3.6, width_in=10)
        for axes, values, label in zip(
            made.subplots(1, 2), (latency, rate), ("two-way latency [ms]", "bandwidth [Mbit/s]"), strict=True
        ):
            for number, (kind, way) in enumerate(
                [(kind, way) for kind in ("nws", "constant") for way in (1, -1)]
            ):
                tool = {"nws": "NWS", "constant": "EventSpace"}[kind]
                heights = [
                    values[kind][pair[0], pair[1]] if way == 1 else values[kind][pair[1], pair[0]]
                    for pair in pairs
                ]
                places = [place + 0.2 * (number - 1.5) for place in range(len(pairs))]
                colour = f"C{0 if kind == 'nws' else 1}"
                axes.bar(
                    places,
                    heights,
                    0.2,
                    color=colour,
                    alpha=1 if way == 1 else 0.5,
                    label=f"{tool}, {'there' if way == 1 else 'back'}",
                )
            axes.set_xticks(range(len(pairs)), names, rotation=60, ha="right", fontsize=8)
            axes.set(ylabel=label)
            axes.set_axisbelow(True)
        made.axes[1].set(yscale="log")
        made.axes[1].set_yticks([2, 5, 10, 20, 50, 80], ["2", "5", "10", "20", "50", "80"])
        made.axes[1].minorticks_off()
        made.axes[0].legend(fontsize=8, ncol=2, loc="lower left", bbox_to_anchor=(0, 1))
        study.figure(made, "tables", data=["tables"])
