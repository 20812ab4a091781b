"""Figure 10: two machines limited to 490 Mbit/s by a token bucket or by pacing, and what differs."""

from collections.abc import Mapping

from testbed import (
    CONTROLS,
    LITERAL_BURST,
    WITH_L2,
    Limit,
    Trial,
    bucket,
    draw_flows,
    draw_jain,
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
from longhaul.studies import Figures, Study, at_least, exact
from longhaul.studies.drawing import colour, draw_paper, legend_below

RATE = 490
SHORT, LONG = bucket(RATE).waits, paced(RATE).waits
LIMITS: Mapping[str, tuple[str, Limit]] = {
    "bucket": ("token bucket, 1 ms", bucket(RATE)),
    "paced-short": ("paced, 1 ms", paced(RATE, waits=SHORT)),
    "paced": ("paced, 1000 packets", paced(RATE)),
    "bucket-long": ("token bucket, 1000 packets", bucket(RATE, waits=LONG)),
    "bucket-literal": ("token bucket of 15.4 MB", bucket(RATE, burst=LITERAL_BURST)),
}
"""Each with what may wait. The paper's are the first, tc with 1 ms, and the third, PSPacer's leaf queue."""
PAPERS = {"bucket": "token bucket (1 ms may wait)", "paced": "PSPacer (1000 packets may wait)"}


def study_limits(study: Study) -> None:
    """Simulate, evaluate the claims."""
    trials = {
        (name, limit): Trial(f"{slug(name)}-{limit}", two(model), model_of, params={"bottleneck": "700Mbit"})
        for name, model in WITH_L2.items()
        for limit, (_label, model_of) in LIMITS.items()
    }
    found = dict(zip(trials, (result for _trial, result in simulate(study, trials.values())), strict=True))
    study.table("figure-10", [row_of(trials[key], found[key], control=key[0]) for key in trials])
    total = {key: mbits(result, "a", "b") for key, result in found.items()}
    for (name, limit), rate in total.items():
        study.value(f"{name}, {limit}", exact(rate), "Mbit/s")
    ratio = study.numbers("pacer-beats-bucket")["ratio"]
    study.evaluate(
        "pacer-beats-bucket",
        [at_least(name, exact(total[name, "paced"] / total[name, "bucket"]), ratio) for name in WITH_L2],
    )
    least = study.numbers("limits-fair")["jain"]
    study.evaluate(
        "limits-fair",
        [
            at_least(f"{name}, {PAPERS[limit]}", exact(index(found[name, limit])), least)
            for name in WITH_L2
            for limit in PAPERS
        ],
    )
    ratio = study.numbers("spacing-is-the-cause")["ratio"]
    study.evaluate(
        "spacing-is-the-cause",
        [
            at_least(f"{name}, {room}", exact(total[name, pacer] / total[name, tokens]), ratio)
            for name in WITH_L2
            for room, pacer, tokens in (
                ("1 ms", "paced-short", "bucket"),
                ("1000 packets", "paced", "bucket-long"),
            )
        ],
    )
    shown = {f"{name}, {PAPERS[limit]}": found[name, limit] for name in CONTROLS for limit in PAPERS}
    study.table("figure-10-rates", seconds_of(shown, "a", "b"))


def draw(figures: Figures) -> None:
    """Figure 10, and what may wait."""
    rates, rows = figures.rows("figure-10-rates"), figures.rows("figure-10")
    # The rows have the order of the trials.
    cases = [(name, limit) for name in WITH_L2 for limit in LIMITS]
    by_case = dict(zip(cases, rows, strict=True))
    with paper():
        made = figure(5.2, width_in=13)
        grid = made.add_gridspec(2, 4, width_ratios=[1, 1, 1, 0.85])
        for down, name in enumerate(CONTROLS):
            for across, label in enumerate(PAPERS.values()):
                axes = made.add_subplot(grid[down, across])
                mine = [row for row in rates if row["run"] == f"{name}, {label}"]
                draw_flows(axes, mine, {"a": "first machine", "b": "second machine"})
                draw_paper(axes, figures.paper.values("10", "rate of the bottleneck"))
                axes.set(ylim=(0, 760), xlim=(0, 60))
                axes.set_title(f"{name}, {label}", fontsize=8.5)
                if not across:
                    axes.set_ylabel("goodput [Mbit/s]")
                if down:
                    axes.set_xlabel("time [s]")
            bars = made.add_subplot(grid[down, 2])
            places = range(len(LIMITS))[::-1]
            values = [by_case[name, limit]["a_mbits"] + by_case[name, limit]["b_mbits"] for limit in LIMITS]
            shades = [colour(4 if "bucket" in each else 5) for each in LIMITS]
            bars.barh(places, values, height=0.6, color=shades)
            for place, value in zip(places, values, strict=True):
                bars.text(value + 8, place, f"{value:.0f}", va="center")
            bars.set_yticks(places, [label for label, _model in LIMITS.values()], fontsize=7.5)
            bars.set(xlim=(0, 760), title=f"{name}: what may wait decides")
            bars.grid(axis="y", visible=False)
            bars.set_axisbelow(True)
            if down:
                bars.set_xlabel("both together [Mbit/s]")
        short = {"bucket": "bucket", "paced": "PSPacer"}
        found = {
            f"{name}, {short[limit]}": by_case[name, limit]["jain"] for name in WITH_L2 for limit in short
        }
        draw_jain(figures, made.add_subplot(grid[:, 3]), "10", found)
        legend_below(made, ncols=6)
        figures.add(made, "figure-10", data=["figure-10", "figure-10-rates"])
