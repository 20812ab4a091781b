"""The paper's sentences, evaluated with Linux's hosts, by the limits of the simulated parts."""

from collections.abc import Mapping
from typing import Any

from congestion import BOTTLENECK_MBITS
from one_flow import WIRE_MBITS
from testbed import FRAME, SEGMENT

from longhaul.studies import Case, Study, at_least, at_most, exact, near

CONTROLS = ("Reno", "BIC")
"""Linux's, and the simulator's of the same names: both grow by acknowledged segments and have L = 2."""
MACHINES = {1: "one machine", 2: "two machines"}
LEVELS = (0, 10, 20, 40)
"""Above the bottleneck, in per cent."""

Found = Mapping[str, Any]
"""Rates, fairness and retransmissions of a run."""


def total(found: Found) -> float:
    """Mean rate of all flows together, in Mbit/s."""
    return round(sum(found["mbits"].values()), 2)


def late(found: Found) -> float:
    """The same once slow start is over."""
    return round(sum(found["late_mbits"].values()), 2)


def evaluate(study: Study, linux: Mapping[str, Found], simulated: Mapping[str, Found]) -> None:
    """Evaluate all claims of the part; results by the runs' keys."""
    _one_flow(study, linux)
    _two_flows(study, linux)
    within = study.numbers("linux-as-simulated")["within"]
    study.evaluate(
        "linux-as-simulated",
        [near(key, exact(total(found) / total(simulated[key])), 1, within) for key, found in linux.items()],
    )
    for key, found in linux.items():
        study.value(f"Linux, {key}", exact(total(found)), "Mbit/s")
        study.value(f"simulated, {key}", exact(total(simulated[key])), "Mbit/s")


def _one_flow(study: Study, linux: Mapping[str, Found]) -> None:
    port = study.numbers("linux-gigabit-port")
    study.evaluate(
        "linux-gigabit-port",
        [
            near("TCP", exact(late(linux["III: TCP, Reno"])), port["tcp_mbits"], port["within"], "Mbit/s"),
            near("UDP", exact(late(linux["III: UDP"])), port["udp_mbits"], port["within"], "Mbit/s"),
        ],
    )
    clock, ticks = (late(linux[f"4: {each}, Reno"]) for each in ("exact clock", "1000 Hz"))
    within = study.numbers("linux-netem-gigabit")["within"]
    study.evaluate("linux-netem-gigabit", near("", exact(ticks / clock), 1, within))
    rates = {each: late(linux[f"8: {each}, Reno"]) / WIRE_MBITS for each in _FIGURE_8}
    limits = study.numbers("linux-fills")
    study.evaluate(
        "linux-fills",
        [at_least(each, exact(rates[each]), limits["least"], percent=True) for each in (_NEAR, _LARGE)]
        + [at_most(_SMALL, exact(rates[_SMALL]), limits["most"], percent=True)],
    )
    penalized = exact(total(linux["8: token bucket, Reno"]) / total(linux[f"8: {_LARGE}, Reno"]))
    most = study.numbers("linux-bucket-penalizes")["most"]
    study.evaluate("linux-bucket-penalizes", at_most("", penalized, most, percent=True))


_FIGURE_8 = (_NEAR, _SMALL, _LARGE) = ("10 ms, 16 MiB", "100 ms, 16 MiB", "100 ms, 25 MiB")


def _two_flows(study: Study, linux: Mapping[str, Found]) -> None:
    def ratios(claim: str, upper: str, lower: str) -> list[Case]:
        least = study.numbers(claim)["ratio"]
        return [
            at_least(each, exact(total(linux[f"{upper}, {each}"]) / total(linux[f"{lower}, {each}"])), least)
            for each in CONTROLS
        ]

    def fair(claim: str, *figures: str) -> None:
        least = study.numbers(claim)["jain"]
        found = [
            (f"{control}, {each}", linux[f"{each}, {control}"]) for control in CONTROLS for each in figures
        ]
        study.evaluate(claim, [at_least(label, exact(each["jain"]), least) for label, each in found])

    fair("linux-sources-fair", *(f"9: {each}" for each in MACHINES.values()))
    study.evaluate(
        "linux-pacer-beats-bucket", ratios("linux-pacer-beats-bucket", "10: PSPacer", "10: token bucket")
    )
    fair("linux-limits-fair", "10: token bucket", "10: PSPacer")
    payload = BOTTLENECK_MBITS * SEGMENT / FRAME
    share = study.numbers("linux-fill-without-loss")["share"]
    study.evaluate(
        "linux-fill-without-loss",
        [
            case
            for control in CONTROLS
            for found in [linux[f"11: 0 %, {control}"]]
            for case in (
                at_least(control, exact(late(found) / payload), share, percent=True),
                at_most(f"{control}, retransmissions", exact(found["retransmits"]), 0),
            )
        ],
    )
    study.evaluate("linux-controlled-rates", ratios("linux-controlled-rates", "11: 0 %", "11: 40 %"))
    fair("linux-levels-fair", *(f"11: {each} %" for each in LEVELS))
