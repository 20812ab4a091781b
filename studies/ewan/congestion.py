"""Figure 11: two paced sources whose rates together exceed a bottleneck of 700 Mbit/s by so much."""

from collections.abc import Mapping

from testbed import (
    CONTROLS,
    FRAME,
    SEGMENT,
    WITH_L2,
    Trial,
    draw_flows,
    index,
    mbits,
    paced,
    row_of,
    seconds_of,
    simulate,
    slug,
    two,
)

from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Study, at_least, at_most, exact

BOTTLENECK_MBITS = 700
SOURCES_MBITS = {0: 350, 10: 385, 14: 400, 20: 420, 40: 490}
"""By how many per cent both are above it. 400 and 490 are the paper's rates, 10 and 20 % its levels."""
SECONDS = 60
DEEP = "10000p"
"""Of a source's own queue, so that only the bottleneck drops: more than a window holds."""


def level(mbits_each: float) -> float:
    """By how much two sources are above the bottleneck, as a share of it."""
    return (2 * mbits_each - BOTTLENECK_MBITS) / BOTTLENECK_MBITS


def study_congestion(study: Study) -> None:
    """Simulate every level and sources that nobody limits, draw figure 11, evaluate the claims."""
    params = {"bottleneck": f"{BOTTLENECK_MBITS}Mbit"}
    trials = {
        (name, percent): Trial(
            f"{slug(name)}-{percent if each else 'unlimited'}",
            two(model),
            paced(each, waits=DEEP) if each else None,
            seconds=SECONDS,
            params=params,
        )
        for name, model in WITH_L2.items()
        for percent, each in {**SOURCES_MBITS, 186: None}.items()
    }
    found = dict(zip(trials, (result for _trial, result in simulate(study, trials.values())), strict=True))
    rows = [row_of(trials[key], found[key], control=key[0], level_percent=key[1]) for key in trials]
    study.table("figure-11", rows)
    total = {key: mbits(result, "a", "b") for key, result in found.items()}
    most = BOTTLENECK_MBITS * SEGMENT / FRAME
    for (name, percent), rate in total.items():
        study.value(f"{name}, {percent}", exact(rate), "Mbit/s")
    study.value("payload", exact(most), "Mbit/s")
    share = study.numbers("fill-without-loss")["share"]
    study.evaluate(
        "fill-without-loss",
        [
            *(at_least(name, exact(total[name, 0] / most), share, percent=True) for name in WITH_L2),
            *(
                at_most(
                    f"{name}, retransmissions",
                    exact(sum(found[name, 0].flow(flow)["retransmits"] for flow in "ab")),
                    0,
                )
                for name in WITH_L2
            ),
        ],
    )
    ratio = study.numbers("controlled-rates")["ratio"]
    study.evaluate(
        "controlled-rates",
        [
            at_least(f"{name}, against {label}", exact(total[name, 0] / total[name, percent]), ratio)
            for name in WITH_L2
            for percent, label in ((40, "40 %"), (186, "unlimited"))
        ],
    )
    fair = {key: index(result) for key, result in found.items() if key[1] in SOURCES_MBITS}
    least = study.numbers("levels-fair")["jain"]
    study.evaluate(
        "levels-fair",
        [at_least(f"{name}, {percent} %", exact(each), least) for (name, percent), each in fair.items()],
    )
    shown = {f"{name}, {percent} %": found[name, percent] for name in CONTROLS for percent in (10, 20)}
    study.table("figure-11-rates", seconds_of(shown, "a", "b"))
    _draw(study, found, total, fair, most)


def _draw(
    study: Study,
    found: Mapping[tuple[str, int], Result],
    total: Mapping[tuple[str, int], float],
    fair: Mapping[tuple[str, int], float],
    most: float,
) -> None:
    with paper():
        made = figure(4.8, width_in=10.5)
        for down, name in enumerate(CONTROLS):
            for across, percent in enumerate((10, 20)):
                axes = made.add_subplot(2, 3, 1 + 3 * down + across)
                draw_flows(axes, found[name, percent], {"a": "first machine", "b": "second machine"})
                axes.set(ylim=(0, 900), xlim=(0, SECONDS), title=f"{name}, {percent} % too much")
                if not across:
                    axes.set_ylabel("goodput [Mbit/s]")
                if down:
                    axes.set_xlabel("time [s]")
                if not down and not across:
                    axes.legend(loc="upper center", ncols=3, fontsize=7, columnspacing=1, handlelength=1.4)
        rates, shares = made.add_subplot(2, 3, 3), made.add_subplot(2, 3, 6)
        for number, name in enumerate(CONTROLS):
            levels, marker = list(SOURCES_MBITS), "os"[number] + "-"
            rates.plot(levels, [total[name, each] for each in levels], marker, label=name)
            rates.axhline(total[name, 186], color=f"C{number}", linestyle=":", linewidth=1)
            shares.plot(levels, [fair[name, each] for each in levels], marker)
        rates.axhline(most, color="0.6", linewidth=0.8)
        rates.plot([], [], ":", color="0.4", label="sources not limited")
        rates.set(ylim=(0, 720), title="both together [Mbit/s]")
        rates.legend(loc="lower left")
        shares.set(ylim=(0.5, 1.01), xlabel="above the bottleneck by [%]", title="Jain's index")
        study.figure(made, "congestion", data=["figure-11", "figure-11-rates"])
