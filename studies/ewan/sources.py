"""Figure 9: two flows that one machine sends, and two that two machines send."""

from testbed import (
    CONTROLS,
    WITH_L2,
    Trial,
    draw_flows,
    draw_jain,
    index,
    mbits,
    row_of,
    seconds_of,
    simulate,
    slug,
    two,
)

from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, at_least, exact
from longhaul.studies.drawing import draw_paper, legend_below

BOTTLENECK = {"bottleneck": "700Mbit"}
MACHINES = {1: "one machine", 2: "two machines"}


def study_sources(study: Study) -> None:
    """Simulate, evaluate the claims."""
    trials = {
        (name, machines): Trial(f"{slug(name)}-{machines}", two(model, machines=machines), params=BOTTLENECK)
        for name, model in WITH_L2.items()
        for machines in MACHINES
    }
    found = dict(zip(trials, (result for _trial, result in simulate(study, trials.values())), strict=True))
    rows = [row_of(trials[key], found[key], control=key[0], machines=key[1]) for key in trials]
    study.table("figure-9", rows)
    least = study.numbers("sources-fair")["jain"]
    study.evaluate(
        "sources-fair",
        [
            at_least(f"{name}, {MACHINES[machines]}", exact(index(result)), least)
            for (name, machines), result in found.items()
        ],
    )
    for (name, machines), result in found.items():
        study.value(f"{name}, {MACHINES[machines]}", exact(mbits(result, "a", "b")), "Mbit/s")
    shown = {
        f"{name}, {MACHINES[machines]}": found[name, machines] for name in CONTROLS for machines in MACHINES
    }
    study.table("figure-9-rates", seconds_of(shown, "a", "b"))


def draw(figures: Figures) -> None:
    """Figure 9."""
    rates, rows = figures.rows("figure-9-rates"), figures.rows("figure-9")
    with paper():
        made = figure(4.9, width_in=10.5)
        grid = made.add_gridspec(2, 3, width_ratios=[1, 1, 0.8])
        for down, name in enumerate(CONTROLS):
            for across, machines in enumerate(MACHINES.values()):
                axes = made.add_subplot(grid[down, across])
                mine = [row for row in rates if row["run"] == f"{name}, {machines}"]
                draw_flows(axes, mine, {"a": "first flow", "b": "second flow"})
                draw_paper(axes, figures.paper.values("9", "rate of the bottleneck"))
                axes.set(ylim=(0, 760), xlim=(0, 60), title=f"{name}, {machines}")
                if not across:
                    axes.set_ylabel("goodput [Mbit/s]")
                if down:
                    axes.set_xlabel("time [s]")
        found = {f"{row['control']}, {MACHINES[row['machines']]}": row["jain"] for row in rows}
        draw_jain(figures, made.add_subplot(grid[:, 2]), "9", found)
        legend_below(made, ncols=6)
        figures.add(made, "figure-9", data=["figure-9", "figure-9-rates"])
