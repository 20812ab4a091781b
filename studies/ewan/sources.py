"""Figure 9: two flows that one machine sends, and two that two machines send."""

from testbed import (
    CONTROLS,
    WITH_L2,
    Trial,
    draw_flows,
    index,
    mbits,
    row_of,
    seconds_of,
    simulate,
    slug,
    two,
)

from longhaul.report.plotting import figure, paper
from longhaul.studies import Study, at_least, exact

BOTTLENECK = {"bottleneck": "700Mbit"}
MACHINES = {1: "one machine", 2: "two machines"}


def study_sources(study: Study) -> None:
    """Simulate, draw figure 9, evaluate the claims."""
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
    with paper():
        made = figure(4.6, width_in=8.6)
        for down, name in enumerate(CONTROLS):
            for across, machines in enumerate(MACHINES):
                axes = made.add_subplot(2, 2, 1 + 2 * down + across)
                draw_flows(axes, found[name, machines], {"a": "first flow", "b": "second flow"})
                axes.set(ylim=(0, 760), xlim=(0, 60), title=f"{name}, {MACHINES[machines]}")
                if not across:
                    axes.set_ylabel("goodput [Mbit/s]")
                if down:
                    axes.set_xlabel("time [s]")
                if not down and not across:
                    axes.legend(loc="upper right", ncols=3)
        study.figure(made, "sources", data=["figure-9-rates"])
