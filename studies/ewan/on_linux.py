"""The paper's figures with Linux 6.12 at the paper's rates, on the virtual clock, and simulated alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any

from calibration import DATAGRAMS
from claims_on_linux import CONTROLS, LEVELS, MACHINES, evaluate, late, total
from congestion import BOTTLENECK_MBITS, DEEP, SOURCES_MBITS
from limits import RATE
from testbed import (
    Trial,
    bucket,
    index,
    mbits,
    one,
    paced,
    per_second,
    simulate,
    slug,
    two,
    write,
)

import longhaul
from longhaul.run.api import Result
from longhaul.studies import Study

SECONDS = 60
SMALL_S = 1
LATE_S = 20
"""From then on slow start is over, in figure 8."""
APART = {"last": "500us", "wan": "49ms"}
"""A round trip of 100 ms, of which guests know the last 500 us in advance."""
NEAR = {"last": "500us", "wan": "4ms"}
CLOSE = {"wan": "10us", "buffers": "1MiB", "queue": "10000p"}
CLOCKS = {"exact clock": "$wan", "1000 Hz": "{base: $wan, ticks: {hz: 1000, rounding: up}}"}
NARROW = {"bottleneck": f"{BOTTLENECK_MBITS}Mbit"}


@dataclass(frozen=True)
class Run:
    """A trial with Linux's and with simulated hosts."""

    figure: str
    trial: Trial
    control: str = ""

    @property
    def key(self) -> str:
        """The name of its results."""
        return f"{self.figure}, {self.control}" if self.control else self.figure


def runs() -> Iterator[Run]:
    """What runs, in the order of the paper."""
    yield Run("III: TCP", Trial("linux-port-tcp", one("reno"), seconds=5, params=CLOSE), "Reno")
    yield Run("III: UDP", Trial("linux-port-udp", {"a": f"{DATAGRAMS}1Gbit"}, seconds=5, params=CLOSE))
    for clock, delay in CLOCKS.items():
        trial = Trial(f"linux-wan-{slug(clock)}", one("reno"), seconds=20, params=APART, delay=delay)
        yield Run(f"4: {clock}", trial, "Reno")
    for label, trial in _one_flow().items():
        yield Run(f"8: {label}", trial, "Reno")
    for control in CONTROLS:
        for label, trial in _two_flows(control.lower()).items():
            yield Run(label, trial, control)


def _one_flow() -> Mapping[str, Trial]:
    small, large = {"buffers": "16MiB"}, {"buffers": "25MiB"}
    return {
        "10 ms, 16 MiB": Trial("linux-near", one("reno"), params=NEAR | small),
        "100 ms, 16 MiB": Trial("linux-small", one("reno"), params=APART | small),
        "100 ms, 25 MiB": Trial("linux-large", one("reno"), params=APART | large),
        "token bucket": Trial("linux-bucket", one("reno"), bucket(RATE), params=APART | large),
    }


def _two_flows(control: str) -> Mapping[str, Trial]:
    found = {
        f"9: {label}": (two(control, machines=machines), None, f"linux-{control}-from-{machines}")
        for machines, label in MACHINES.items()
    }
    found |= {
        "10: token bucket": (two(control), bucket(RATE), f"linux-{control}-bucket"),
        "10: PSPacer": (two(control), paced(RATE), f"linux-{control}-paced"),
    }
    found |= {
        f"11: {level} %": (
            two(control),
            paced(SOURCES_MBITS[level], waits=DEEP),
            f"linux-{control}-level-{level}",
        )
        for level in LEVELS
    }
    return {
        label: Trial(name, flows, limit, params=NARROW | APART)
        for label, (flows, limit, name) in found.items()
    }


def study_on_linux(study: Study) -> None:
    """Run every trial on the virtual clock and simulated; evaluate the paper's sentences."""
    every = list(runs())
    trials = [
        replace(each.trial, seconds=study.size(each.trial.seconds, small=min(each.trial.seconds, SMALL_S)))
        for each in every
    ]
    simulated = [_measures(trial, result) for trial, result in simulate(study, trials, small_s=SMALL_S)]
    linux = {}
    for each, trial in zip(every, trials, strict=True):
        found = study.measured(f"virtual/{each.key}", partial(_on_linux, study, trial))
        if found is None:
            raise RuntimeError(f"{each.key} did not run, and claims need it")
        linux[each.key] = found
    study.table("on-linux", _rows(every, linux, simulated))
    study.table(
        "on-linux-rates",
        [
            {"run": each.key, "hosts": hosts, "flow": flow, "t_s": time, "mbits": rate}
            for each, other in zip(every, simulated, strict=True)
            for hosts, found in (("Linux", linux[each.key]), ("simulated", other))
            for flow, time, rate in every_two_seconds(found["rates"])
        ],
    )
    evaluate(study, linux, {each.key: other for each, other in zip(every, simulated, strict=True)})


def with_linux(trial: Trial) -> Trial:
    """The trial for hosts of Linux, which have Reno until a flow selects another."""
    return replace(trial, tcp="congestion_control: reno")


def _on_linux(study: Study, trial: Trial) -> dict[str, Any]:
    result = longhaul.run_live(
        write(study, with_linux(trial)), params=trial.params, runs=study.runs, report=False, clock="virtual"
    )
    study.ran(result)
    return _measures(trial, result)


def _measures(trial: Trial, result: Result) -> dict[str, Any]:
    """Rates, fairness and losses of a run."""
    rates = {
        flow: _after(result, flow, LATE_S if trial.seconds == SECONDS else trial.seconds / 2)
        for flow in trial.flows
    }
    virtual = result.summary.get("virtual_clock")
    return {
        "mbits": {flow: round(mbits(result, flow), 2) for flow in trial.flows},
        "late_mbits": {flow: round(rate, 2) for flow, rate in rates.items()},
        "retransmits": sum(result.flow(flow).get("retransmits") or 0 for flow in trial.flows),
        "jain": round(index(result), 4),
        "wall_s": round(virtual["wall_s_per_s"] * trial.seconds, 1) if virtual else None,
        "digest": str(virtual["digest"]) if virtual else "",
        "rates": [
            (flow, float(time), round(float(rate), 2))
            for flow in trial.flows
            for time, rate in zip(*per_second(result, flow), strict=True)
        ],
    }


def every_two_seconds(rates: Iterable[tuple[str, float, float]]) -> Iterator[tuple[str, float, float]]:
    """Rates of seconds, by flow, as means of two: flow, the middle of the two in s, rate in Mbit/s."""
    for flow, seconds in groupby(rates, itemgetter(0)):
        for pair in zip_longest(seconds, seconds):
            known = [each for each in pair if each is not None]
            times, values = ([each[column] for each in known] for column in (1, 2))
            yield flow, sum(times) / len(known), round(sum(values) / len(known), 2)


def _after(result: Result, flow: str, begin_s: float) -> float:
    """Mean rate of the whole seconds after ``begin_s``, without the last one, in which a program ends."""
    times, rates = per_second(result, flow)
    chosen = rates[(times > begin_s) & (times < times[-1])]
    return float(chosen.mean()) if len(chosen) else float(rates.mean())


def _rows(
    every: Sequence[Run], linux: Mapping[str, Mapping[str, Any]], simulated: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    for each, other in zip(every, simulated, strict=True):
        mine = linux[each.key]
        fair = len(each.trial.flows) > 1
        yield {
            "figure": each.figure,
            "control": each.control,
            "seconds": each.trial.seconds,
            "linux_mbits": total(mine),
            "simulated_mbits": total(other),
            "linux_late_mbits": late(mine),
            "simulated_late_mbits": late(other),
            "linux_retransmits": mine["retransmits"],
            "simulated_retransmits": other["retransmits"],
            "linux_jain": mine["jain"] if fair else "",
            "simulated_jain": other["jain"] if fair else "",
            "wall_s": mine["wall_s"],
            "digest": mine["digest"],
        }
