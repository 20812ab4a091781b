"""Tables I to V, and what the paper says of them."""

from collections.abc import Mapping
from itertools import combinations
from statistics import pstdev

from playing import KINDS

from longhaul.report.plotting import figure, paper
from longhaul.scenario.traces.builtin import figures_of
from longhaul.scenario.traces.files import read_traces
from longhaul.scenario.traces.statistics import summaries
from longhaul.studies import Case, Figures, PaperValue, Study, holds_if
from longhaul.studies.drawing import colour, draw_paper, legend_below

HOSTS = ("benedict", "clustis", "psgw", "roadrunner", "vvgw")
SITE = frozenset(("psgw", "vvgw"))
"""These two are at one site: no WAN between them."""

Pair = tuple[str, str]


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
    """Check what the paper says of its tables."""
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
            | {f"eventspace_{unit}": round(values[pair], 2) for unit, values in deviations().items()}
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


def _most(name: str, held: list[bool]) -> Case:
    return holds_if(name, sum(held) > len(held) / 2, f"{sum(held)} of {len(held)}")


def asymmetry(values: Mapping[Pair, float]) -> dict[Pair, float]:
    """By how much the larger of the two ways is above the smaller."""
    found = {}
    for here, there in combinations(HOSTS, 2):
        both = values[here, there], values[there, here]
        found[here, there] = max(both) / min(both) - 1
    return found


def deviations() -> dict[str, dict[Pair, float]]:
    """Standard deviations of latency in ms and of bandwidth in Mbit/s in the traces that are drawn."""
    found: dict[str, dict[Pair, float]] = {"rtt_sd_ms": {}, "rate_sd_mbit": {}}
    for trace in read_traces("longcut:eventspace").traces:
        assert trace.way is not None
        for column, name in (("rtt_ms", "rtt_sd_ms"), ("rate_mbit", "rate_sd_mbit")):
            values = [value for value in trace.columns[column] if value is not None]
            found[name][trace.way.ends] = pstdev(values)
    return found


def stated(kind: str, quantity: str) -> list[PaperValue]:
    """The paper's means, with its standard deviations, of a quantity: ``rtt`` or ``rate``."""
    unit = {"rtt": "ms", "rate": "mbit"}[quantity]
    return [
        PaperValue(
            "tables I to V",
            kind,
            " > ".join(pair),
            getattr(each, f"{quantity}_{unit}"),
            getattr(each, f"{quantity}_sd_{unit}"),
        )
        for pair, each in figures_of(kind).items()
        if getattr(each, f"{quantity}_{unit}") is not None
    ]


def draw(figures: Figures) -> None:
    """Each direction: the paper's means and deviations, and those of the traces that are drawn from them."""
    rows = figures.rows("tables")
    # Both ways of a pair are side by side.
    rows.sort(key=lambda row: (sorted((row["from"], row["to"])), row["from"] > row["to"]))
    names = [f"{row['from']} > {row['to']}" for row in rows]
    tools = (
        ("eventspace", "EventSpace, tables IV and V", "D"),
        ("nws", "NWS, tables I and II", "s"),
        ("collective", "collective operations, table III", "^"),
    )
    with paper():
        made = figure(6.6, width_in=9)
        panels = made.subplots(2, 1, sharex=True)
        for axes, quantity, unit in zip(panels, ("rtt", "rate"), ("ms", "mbit"), strict=True):
            axes.errorbar(
                [place - 0.2 for place in range(len(rows))],
                [row[f"eventspace_{quantity}_{unit}"] for row in rows],
                yerr=[row[f"eventspace_{quantity}_sd_{unit}"] for row in rows],
                fmt="o",
                markersize=5,
                capsize=2,
                elinewidth=1,
                color=colour(0),
                label="trace that is drawn, mean and standard deviation",
            )
            for number, (kind, tool, marker) in enumerate(tools):
                places = {name: place + 0.12 * (number + 0.5) for place, name in enumerate(names)}
                values = stated(kind, quantity)
                if values:
                    draw_paper(axes, values, places=places, label=f"paper: {tool}", marker=marker)
        panels[0].set(ylabel="two-way latency [ms]", ylim=(0, None))
        panels[1].set(ylabel="bandwidth [Mbit/s]", yscale="log")
        panels[1].set_yticks([2, 5, 10, 20, 50, 80], ["2", "5", "10", "20", "50", "80"])
        panels[1].minorticks_off()
        panels[1].set_xticks(
            range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=8
        )
        legend_below(made, ncols=2)
        figures.add(made, "tables", data=["tables"])
