"""Figure 9: two flows that one machine sends, and two that two machines send."""

from study import Study
from testbed import CONTROLS, Trial, draw_flows, index, mbits, row_of, simulate, two

from longhaul.report.plotting import figure, paper

BOTTLENECK = {"bottleneck": "700Mbit"}
MACHINES = {1: "one machine", 2: "two machines"}


def study_sources(study: Study) -> None:
    """Simulate, draw figure 9, judge the claims."""
    trials = {
        (name, machines): Trial(f"{name.lower()}-{machines}", two(law, machines=machines), params=BOTTLENECK)
        for name, law in CONTROLS.items()
        for machines in MACHINES
    }
    found = dict(zip(trials, (result for _trial, result in simulate(study, trials.values())), strict=True))
    rows = [row_of(trials[key], found[key], control=key[0], machines=key[1]) for key in trials]
    study.table("figure-9", rows)
    for (name, machines), result in found.items():
        study.say(
            f"figure 9, {name}, {MACHINES[machines]}: {mbits(result, 'a'):.0f} and {mbits(result, 'b'):.0f}"
            f" Mbit/s, Jain's index {index(result):.4f}"
        )
    study.claim(
        "figure 9: Jain's index is about 0.99 or better with both controls, from one machine and from two",
        all(index(result) >= 0.985 for result in found.values()),
    )
    shared, apart = (mbits(found["BIC", machines], "a", "b") for machines in MACHINES)
    for name in CONTROLS:
        shared, apart = (mbits(found[name, machines], "a", "b") for machines in MACHINES)
        study.say(
            f"figure 9, {name}: {shared:.0f} Mbit/s from one machine, whose port spaces what it sends;"
            f" {apart:.0f} from two, whose bursts meet at the bottleneck"
        )
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
        study.figure(made, "figure-9")
