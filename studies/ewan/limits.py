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
from longhaul.studies import Study, at_least, exact

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
    """Simulate, draw figure 10, evaluate the claims."""
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
    _draw(study, found, total)


def _draw(
    study: Study, found: Mapping[tuple[str, str], Result], total: Mapping[tuple[str, str], float]
) -> None:
    with paper():
        made = figure(4.8, width_in=10.5)
        for down, name in enumerate(CONTROLS):
            for across, (limit, label) in enumerate(PAPERS.items()):
                axes = made.add_subplot(2, 3, 1 + 3 * down + across)
                draw_flows(axes, found[name, limit], {"a": "first machine", "b": "second machine"})
                axes.set(ylim=(0, 760), xlim=(0, 60), title=f"{name}, {label}")
                if not across:
                    axes.set_ylabel("goodput [Mbit/s]")
                if down:
                    axes.set_xlabel("time [s]")
                if not down and not across:
                    axes.legend(loc="upper left")
            bars = made.add_subplot(2, 3, 3 + 3 * down)
            places = range(len(LIMITS))[::-1]
            values = [total[name, limit] for limit in LIMITS]
            bars.barh(
                places, values, height=0.6, color=[f"C{0 if 'bucket' in each else 1}" for each in LIMITS]
            )
            for place, value in zip(places, values, strict=True):
                bars.text(value + 8, place, f"{value:.0f}", va="center")
            bars.set_yticks(places, [label for label, _model in LIMITS.values()])
            bars.set(xlim=(0, 760), title=f"{name}: what may wait decides")
            bars.grid(axis="y", visible=False)
            bars.set_axisbelow(True)
            if down:
                bars.set_xlabel("both together [Mbit/s]")
        study.figure(made, "limits", data=["figure-10", "figure-10-rates"])
