"""The 24 Mbit/s of Lyon: what loss they would take, and how Reno comes to them without."""

from collections.abc import Mapping

import numpy as np
from study import Study
from testbed import (
    LITERAL_BURST,
    RENO,
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

LYON_MBITS = 24
SERVICES = {"TS_1": 500, "TS_2": 1000}
"""Mbit/s at which each transport service lets a source send."""
KINDS: Mapping[str, tuple[str, str]] = {
    "reno-2.6": ("Reno, counting acknowledgements (2.6.11)", RENO),
    "reno": ("Reno, counting bytes (RFC 5681)", "reno"),
    "bic": ("BIC, as meant", "bic"),
}

CHANCE_S = 1860
"""Half an hour after a minute in which slow start is forgotten."""


def window_segments(rate_mbits: float) -> float:
    """What a rate of payload keeps in flight."""
    return rate_mbits * 1e6 * RTT_S / 8 / SEGMENT


def loss_of(window: float) -> float:
    """The chance of a loss at which Reno has such a mean window: W = sqrt(3/(2p))."""
    return 1.5 / window**2


def grown_mbits(threshold: float, seconds: float) -> float:
    """Mean over a transfer that begins at a threshold and then adds half a segment a round trip."""
    return (threshold + seconds / RTT_S * 0.5 / 2) * SEGMENT * 8 / RTT_S / 1e6


def study_lyon(study: Study) -> None:
    """Simulate both services with each kind of TCP, draw windows and means, judge the claims."""
    window = window_segments(LYON_MBITS)
    loss = loss_of(window)
    study.say(
        f"Lyon: {LYON_MBITS} Mbit/s over 100 ms are a window of {window:.0f} segments;"
        f" with losses by chance that takes p = {loss:.1e} (square root)"
    )
    trials = {
        (kind, service): Trial(f"lyon-{kind.replace('.', '-')}-{service[-1]}", two(law), bucket(rate))
        for kind, (_label, law) in KINDS.items()
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
        again = result.flow("a")["retransmits"]
        study.say(
            f"Lyon, {KINDS[kind][0]}, {service}: {mbits(result, 'a'):.1f} and"
            f" {mbits(result, 'b'):.1f} Mbit/s, {again} segments sent again"
        )
    study.say(
        "Lyon, the scripts' own burst of 15.4 MB, TS_1: "
        f"{mbits(results[literal.name], 'a'):.0f} Mbit/s, as tc lets rate x latency + burst wait"
    )
    times, rates = per_second(results[by_chance.name], "a")
    chance = float(np.mean(rates[times > 60]))
    study.claim(
        f"Lyon: with p = {loss:.1e} by chance Reno has {chance:.1f} Mbit/s in half an hour,"
        f" within 15 % of {LYON_MBITS}",
        abs(chance / LYON_MBITS - 1) < 0.15,
    )
    reno = mbits(found["reno-2.6", "TS_1"], "a")
    threshold = _after_slow_start(found["reno-2.6", "TS_1"])
    study.say(
        f"Lyon: slow start overflows what may wait and leaves {threshold:.0f} segments; half a"
        f" segment a round trip more, and the mean of 60 s is {grown_mbits(threshold, 60):.1f} Mbit/s"
    )
    study.claim(
        f"Lyon: two machines, Reno as Linux 2.6.11 had it and a token bucket explain it:"
        f" {reno:.1f} Mbit/s, within 15 %, and no loss after slow start",
        abs(reno / LYON_MBITS - 1) < 0.15 and _losses_end_s(found["reno-2.6", "TS_1"]) < 3,
    )
    later = mbits(found["reno-2.6", "TS_2"], "a")
    study.claim(
        f"Lyon: the same for TS_2, within 15 % ({later:.1f} Mbit/s: at twice the rate more may wait)",
        abs(later / LYON_MBITS - 1) < 0.15,
    )
    bic = mbits(found["bic", "TS_1"], "a")
    study.claim(
        f"Lyon: BIC has no more than Reno (as meant it has {bic:.0f} Mbit/s;"
        " but that of Linux 2.6.11 did not search, and was"
        " a slightly modified Reno, as its repair of April 2005 says)",
        bic < 1.15 * reno,
    )
    _draw(study, found, window)


def _after_slow_start(result: Result) -> float:
    """The window, in segments, once the losses of slow start are repaired."""
    times, windows = series(result, "a", "window_segments")
    return float(windows[times >= _losses_end_s(result) + 2 * RTT_S][0])


def _losses_end_s(result: Result) -> float:
    """When the last segment was sent again."""
    times, again = series(result, "a", "retransmits")
    return float(times[again > 0][-1])


def _draw(study: Study, found: Mapping[tuple[str, str], Result], window: float) -> None:
    with paper():
        made = figure(3.4, width_in=10)
        windows, means = made.subplots(1, 2)
        for kind, (label, _law) in KINDS.items():
            times, values = series(found[kind, "TS_1"], "a", "window_segments")
            windows.plot(times, values, label=label)
        windows.axhline(window, color="0.45", linewidth=0.9, linestyle="--")
        windows.text(
            59.5, window * 0.92, f"24 Mbit/s: {window:.0f} segments", ha="right", va="top", color="0.35"
        )
        windows.set(
            yscale="log", ylim=(30, 9000), xlim=(0, 60), xlabel="time [s]", title="window [segments], TS_1"
        )
        windows.legend(loc="upper left", fontsize=7.5)
        places = np.arange(len(KINDS))[::-1]
        for number, service in enumerate(SERVICES):
            values = [mbits(found[kind, service], "a") for kind in KINDS]
            means.barh(
                places + 0.2 - 0.4 * number, values, height=0.36, color=f"C{number + 4}", label=service
            )
            for place, value in zip(places, values, strict=True):
                means.text(value * 1.06, place + 0.2 - 0.4 * number, f"{value:.0f}", va="center")
        means.axvline(LYON_MBITS, color="0.45", linewidth=0.9, linestyle="--", label="measured in Lyon: 24")
        means.set_yticks(places, ["Reno 2.6.11", "RFC 5681", "BIC"])
        means.grid(axis="y", visible=False)
        means.set(xscale="log", xlim=(10, 1500), xlabel="mean of 60 s [Mbit/s]", title="first flow of two")
        means.set_xticks([10, 24, 100, 1000], ["10", "24", "100", "1000"])
        means.minorticks_off()
        means.legend(loc="upper right")
        means.set_axisbelow(True)
        study.figure(made, "lyon")
