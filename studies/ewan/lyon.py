"""The 24 Mbit/s of Lyon: what loss they would take, and how Reno comes to them without."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from testbed import (
    CONTROLS,
    LITERAL_BURST,
    RENO,
    RENO_L2,
    RTT_S,
    SEGMENT,
    Trial,
    bucket,
    mbits,
    per_second,
    row_of,
    series,
    simulate,
    two,
)

from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Case, Figures, Numbers, Study, at_most, exact, near
from longhaul.studies.drawing import colour, draw_paper, legend_below

SERVICES = {"TS_1": 500, "TS_2": 1000}
"""Mbit/s at which each transport service lets a source send."""
KINDS: Mapping[str, tuple[str, str]] = {
    "reno-2.6": ("Reno, counting acknowledgements (2.6.11)", RENO),
    "reno-2.6-l2": ("the same, with a slow start of L = 2", RENO_L2),
    "reno": ("Reno, counting bytes (RFC 5681)", "reno"),
    "bic": ("BIC, as meant", CONTROLS["BIC"]),
}

FORGOTTEN_S, CHANCE_S = 60, 1860
"""A minute in which slow start is forgotten, and with it half an hour."""


def window_segments(rate_mbits: float) -> float:
    """What a rate of payload keeps in flight."""
    return rate_mbits * 1e6 * RTT_S / 8 / SEGMENT


def loss_of(window: float) -> float:
    """The chance of a loss at which Reno has such a mean window: W = sqrt(3/(2p))."""
    return 1.5 / window**2


def grown_mbits(threshold: float, seconds: float) -> float:
    """Mean over a transfer that begins at a threshold and then adds half a segment a round trip."""
    return (threshold + seconds / RTT_S * 0.5 / 2) * SEGMENT * 8 / RTT_S / 1e6


def _trial(kind: str, service: str) -> str:
    """The name of a trial."""
    return f"lyon-{kind.replace('.', '-')}-{service[-1]}"


def study_lyon(study: Study) -> None:
    """Simulate both services with each kind of TCP, evaluate the claims."""
    lyon = study.numbers("lyon-by-chance")
    window = window_segments(lyon["lyon_mbits"])
    loss = loss_of(window)
    study.value("window", exact(window), "segments")
    study.value("loss", exact(loss * 1e6), "per million")
    trials = {
        (kind, service): Trial(_trial(kind, service), two(model), bucket(rate))
        for kind, (_label, model) in KINDS.items()
        for service, rate in SERVICES.items()
    }
    by_chance = Trial(
        "lyon-losses",
        {"a": "kind: tcp, from: a, to: x, cc: reno"},
        seconds=CHANCE_S,
        params={"loss": f"{loss:.9f}"},
        tcp="delayed_ack: false",
    )
    literal = Trial("lyon-literal", two(RENO), bucket(500, burst=LITERAL_BURST))
    every = [*trials.values(), literal, by_chance]
    results = {trial.name: result for trial, result in simulate(study, every)}
    found = {key: results[trial.name] for key, trial in trials.items()}
    study.table("lyon", [row_of(trial, results[trial.name]) for trial in every])
    for (kind, service), result in found.items():
        study.value(f"{kind}, {service}", exact(mbits(result, "a")), "Mbit/s")
    study.value("literal burst", exact(mbits(results[literal.name], "a")), "Mbit/s")
    times, rates = per_second(results[by_chance.name], "a")
    study.evaluate(
        "lyon-by-chance",
        _as_in_lyon("", float(np.mean(rates[times > times[-1] * FORGOTTEN_S / CHANCE_S])), lyon),
    )
    thresholds = {kind: _after_slow_start(found[kind, "TS_1"]) for kind in ("reno-2.6", "reno-2.6-l2")}
    for kind, threshold in thresholds.items():
        study.value(f"threshold, {kind}", exact(threshold), "segments")
        study.value(f"grown, {kind}", exact(grown_mbits(threshold, 60)), "Mbit/s")
    slow_starts = {"reno-2.6": "L = 1", "reno-2.6-l2": "L = 2"}
    study.evaluate(
        "lyon-behind-bucket",
        [
            _as_in_lyon(f"{service}, {label}", mbits(found[kind, service], "a"), lyon)
            for kind, label in slow_starts.items()
            for service in SERVICES
        ],
    )
    within_s = study.numbers("lyon-losses-end")["within_s"]
    study.evaluate(
        "lyon-losses-end",
        [
            at_most(label, exact(_losses_end_s(found[kind, "TS_1"])), within_s, "s")
            for kind, label in slow_starts.items()
        ],
    )
    bic, reno = (mbits(found[kind, "TS_1"], "a") for kind in ("bic", "reno-2.6"))
    study.evaluate("lyon-bic", at_most("", exact(bic / reno), study.numbers("lyon-bic")["ratio"]))
    study.table(
        "lyon-windows",
        [
            {"control": kind, "t_s": round(float(t), 2), "window_segments": round(float(w), 1)}
            for kind in KINDS
            for t, w in list(zip(*series(found[kind, "TS_1"], "a", "window_segments"), strict=True))[::5]
        ],
    )


def _as_in_lyon(condition: str, rate_mbits: float, lyon: Numbers) -> Case:
    return near(condition, exact(rate_mbits), lyon["lyon_mbits"], lyon["lyon_within"], "Mbit/s")


def _after_slow_start(result: Result) -> float:
    """The window, in segments, once the losses of slow start are repaired."""
    times, windows = series(result, "a", "window_segments")
    return float(windows[times >= _losses_end_s(result) + 2 * RTT_S][0])


def _losses_end_s(result: Result) -> float:
    """When the last segment was retransmitted."""
    times, again = series(result, "a", "retransmits")
    return float(times[again > 0][-1])


def draw(figures: Figures) -> None:
    """Windows behind the token bucket, and the means of a minute."""
    rows, trials = figures.rows("lyon-windows"), {row["trial"]: row for row in figures.rows("lyon")}
    with paper():
        made = figure(3.9, width_in=10)
        windows, means = made.subplots(1, 2)
        stated = figures.paper.values("both services in Lyon")
        for number, (kind, (label, _model)) in enumerate(KINDS.items()):
            mine = [row for row in rows if row["control"] == kind]
            windows.plot(
                [row["t_s"] for row in mine],
                [row["window_segments"] for row in mine],
                ("-", "--", "-.", ":")[number],
                color=colour(number),
                label=label,
            )
        draw_paper(windows, [replace(each, y=window_segments(each.y or 0.0)) for each in stated])
        windows.set(yscale="log", ylim=(30, 60_000), xlim=(0, 60), xlabel="time [s]")
        windows.set(title="TS_1", ylabel="window [segments]")
        places = np.arange(len(KINDS))[::-1]
        for number, service in enumerate(SERVICES):
            values = [trials[_trial(kind, service)]["a_mbits"] for kind in KINDS]
            at = places + 0.2 - 0.4 * number
            means.barh(at, values, height=0.36, color=colour(number + 4), label=service)
            for place, value in zip(at, values, strict=True):
                means.text(value * 1.06, place, f"{value:.0f}", va="center")
        draw_paper(means, stated, across=True)
        means.set_yticks(places, ["Reno 2.6.11", "the same, L = 2", "RFC 5681", "BIC"])
        means.grid(axis="y", visible=False)
        means.set(xscale="log", xlim=(10, 1500), xlabel="mean of 60 s [Mbit/s]", title="first flow of two")
        means.set_xticks([10, 24, 100, 1000], ["10", "24", "100", "1000"])
        means.minorticks_off()
        means.set_axisbelow(True)
        legend_below(made, ncols=4)
        figures.add(made, "lyon", data=["lyon", "lyon-windows"])
