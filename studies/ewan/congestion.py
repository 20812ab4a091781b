"""Figure 11: two paced sources whose rates together exceed a bottleneck of 700 Mbit/s by so much."""

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
from longhaul.studies import Figures, Study, at_least, at_most, exact
from longhaul.studies.drawing import MARKERS, colour, draw_paper, legend_below

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
    """Simulate every level and sources that nobody limits, evaluate the claims."""
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


def draw(figures: Figures) -> None:
    """Figure 11, and both flows together by the level."""
    rates, rows = figures.rows("figure-11-rates"), figures.rows("figure-11")
    unlimited = max(row["level_percent"] for row in rows)
    with paper():
        made = figure(5.2, width_in=10.5)
        for down, name in enumerate(CONTROLS):
            for across, percent in enumerate((10, 20)):
                axes = made.add_subplot(2, 3, 1 + 3 * down + across)
                mine = [row for row in rates if row["run"] == f"{name}, {percent} %"]
                draw_flows(axes, mine, {"a": "first machine", "b": "second machine"})
                draw_paper(axes, figures.paper.values("11", "rate of the bottleneck"))
                axes.set(ylim=(0, 900), xlim=(0, SECONDS), title=f"{name}, {percent} % too much")
                if not across:
                    axes.set_ylabel("goodput [Mbit/s]")
                if down:
                    axes.set_xlabel("time [s]")
        together, shares = made.add_subplot(2, 3, 3), made.add_subplot(2, 3, 6)
        for number, name in enumerate(CONTROLS):
            mine = {row["level_percent"]: row for row in rows if row["control"] == name}
            total = {level: row["a_mbits"] + row["b_mbits"] for level, row in mine.items()}
            levels = [level for level in mine if level != unlimited]
            style = {"marker": MARKERS[number], "markersize": 4, "color": colour(number + 2)}
            together.plot(levels, [total[each] for each in levels], label=name, **style)
            together.axhline(total[unlimited], color=colour(number + 2), linestyle=":", linewidth=1)
            shares.plot(levels, [mine[each]["jain"] for each in levels], **style)
        together.plot([], [], ":", color="0.4", label="sources not limited")
        together.set(ylim=(0, 760), title="both together [Mbit/s]")
        draw_paper(together, figures.paper.values("11", "rate of the bottleneck"))
        draw_paper(shares, figures.paper.values("11", "Jain's index"))
        shares.set(ylim=(0.5, 1.03), xlabel="above the bottleneck by [%]", title="Jain's index")
        legend_below(made, ncols=4)
        figures.add(made, "figure-11", data=["figure-11", "figure-11-rates"])
