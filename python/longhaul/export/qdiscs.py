"""One direction of a link as Linux queueing disciplines: netem and a token bucket.

The order is tc's: netem loses, copies and delays; the bucket (tbf) limits the rate; its child is the queue.
What tc has no words for is refused, and what it says only roughly is told: see :class:`Shaping`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, log2
from typing import Any

from longhaul.diagnostics import Code
from longhaul.plan import (
    CodelQueueDiscipline,
    Direction,
    FqCodelQueueDiscipline,
    PieQueueDiscipline,
    RedQueueDiscipline,
)
from longhaul.scenario.lower.link_models import plan_mean_ns
from longhaul.scenario.lower.link_models.rate import rate_of_model
from longhaul.scenario.syntax.value_errors import ScenarioValueError

ETHERNET_HEADER = 14
"""Bytes that tc counts beside IP's: addresses and type, without preamble, FCS and gap."""
LEAST_NETEM_PACKETS = 1000
"""netem's own limit."""
_TAIL = 4
"""Standard deviations of jitter that netem's limit makes room for."""
_WEIGHT = 0.05
"""By which RED's weight may be off without a warning."""
_LEAST_WEIGHT_SHIFT = 31
"""tc knows RED's weights from 1/2 down to 2^-31."""
_FROM_A_TRACE = 'write a model of numbers, or follow the trace with "longhaul run"'


@dataclass(frozen=True)
class Kernel:
    """What is assumed of the machines that shape."""

    hz: int = 250
    """Ticks a second (CONFIG_HZ): a bucket holds at least what the rate sends in one."""
    line_bits_per_s: int = 10**10
    """How fast packets may come in, for netem's limit."""


@dataclass
class Shaping:
    """The commands of one direction, and where they are not the model that was written."""

    commands: list[str] = field(default_factory=list)
    """What follows ``tc qdisc replace dev DEVICE``."""
    refused: list[ScenarioValueError] = field(default_factory=list)
    rough: list[ScenarioValueError] = field(default_factory=list)


def shape(direction: Direction, *, mtu: int, kernel: Kernel) -> Shaping:
    """The disciplines that a device gets which sends this ``direction`` of a link."""
    shaping = Shaping()
    if direction.get("bundle"):
        remedy = "write one model, or run the scenario here"
        shaping.refused.append(
            ScenarioValueError(Code.EXPORT_IMPOSSIBLE, ("routes",), "tc has no parallel routes", remedy)
        )
        return shaping
    netem: list[str] = []
    for part in (_delay, loss_words, _order, _shares):
        try:
            netem += part(direction, shaping.rough)
        except ScenarioValueError as error:
            shaping.refused.append(error)
    if netem:
        limit = netem_limit(direction, mtu=mtu, kernel=kernel)
        shaping.commands.append(f"root handle 1: netem limit {limit} {' '.join(netem)}")
    try:
        bucket = _bucket(direction, mtu, kernel, shaping.rough)
        if bucket:
            place = "parent 1:1" if netem else "root"
            shaping.commands.append(f"{place} handle 10: {bucket}")
            queue = queue_words(direction, mtu, shaping.rough)
            shaping.commands += [f"parent 10:1 handle 20: {queue}"] if queue else []
    except ScenarioValueError as error:
        shaping.refused.append(error)
    return shaping


def netem_limit(direction: Mapping[str, Any], *, mtu: int, kernel: Kernel) -> int:
    """Packets that netem may hold: twice what the line brings during the longest delay.

    netem delays before the rate is limited, so that the line counts and not the rate. The factor of two is
    room for packets smaller than the MTU.
    """
    line: int = max(kernel.line_bits_per_s, direction["rate"].get("bits_per_s") or 0)
    delay = direction["delay"]
    longest_ns: int = plan_mean_ns(delay) + delay.get("half_width_ns", 0) + _TAIL * delay.get("sd_ns", 0)
    if delay["model"] == "random":
        jitter = delay["jitter"]
        longest_ns += round(jitter.get("high", 0) + _TAIL * jitter.get("sd", 0))
    return max(LEAST_NETEM_PACKETS, -(-2 * line * longest_ns // (8 * 10**9 * mtu)))


def time(ns: int) -> str:
    """A time in tc's words, in whole microseconds.

    iproute2 6.1 cuts off what is below, and its netem knows no ``ns``.
    """
    us = (ns + 500) // 1000
    for unit, size in (("s", 10**6), ("ms", 10**3)):
        if us and us % size == 0:
            return f"{us // size}{unit}"
    return f"{us}us"


def rate(bits_per_s: int) -> str:
    """A rate in tc's words."""
    for unit, size in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if bits_per_s % size == 0:
            return f"{bits_per_s // size}{unit}"
    return f"{bits_per_s}bit"


def percent(share: float) -> str:
    """A share in tc's words."""
    return f"{100 * share:.9g}%"


def _delay(direction: Direction, rough: list[ScenarioValueError]) -> list[str]:
    model = direction["delay"]
    words: list[str] = []
    match model["model"]:
        case "constant":
            return ["delay", time(model["delay_ns"])] if model["delay_ns"] else []
        case "uniform":
            words = [time(model["mean_ns"]), time(model["half_width_ns"])]
        case "normal":
            words = [time(model["mean_ns"]), time(model["sd_ns"]), "distribution", "normal"]
        case "random" if model["jitter"]["dist"] in ("uniform", "normal"):
            jitter, correlation = model["jitter"], percent(model["correlation"])
            width = round(jitter["high"] if jitter["dist"] == "uniform" else jitter["sd"])
            words = [time(model["mean_ns"]), time(width), correlation]
            words += ["distribution", "normal"] if jitter["dist"] == "normal" else []
            message = "netem's correlation narrows the jitter"
            rough.append(
                ScenarioValueError(
                    Code.EXPORT_IMPOSSIBLE,
                    ("delay",),
                    message,
                    "measure it on the machines, or write no correlation",
                )
            )
        case "ticks":
            raise ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE, ("delay",), "netem has no coarse clock", "write the delay alone"
            )
        case "series":
            raise ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE, ("delay",), "netem cannot follow a trace", _FROM_A_TRACE
            )
        case _:
            message = f"netem has no {model['jitter']['dist']} jitter"
            raise ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE, ("delay",), message, "write uniform or normal jitter"
            )
    if not direction["reorder"]:
        message = "netem's jitter changes the order of packets, the scenario keeps it"
        rough.append(
            ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE, ("delay",), message, "write reorder: true to have the same here"
            )
        )
    return ["delay", *words]


def loss_words(direction: Direction, rough: list[ScenarioValueError]) -> list[str]:
    """Netem's words for the losses of a direction."""
    if not direction["up"]:
        return ["loss", "100%"]
    model = direction["loss"]
    if model["model"] == "none":
        return []
    if direction["loss_position"] != "ingress" and direction["rate"]["model"] != "unlimited":
        message = "tc loses packets before the queue, not after it"
        rough.append(
            ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE, ("loss",), message, "write position: ingress to have the same here"
            )
        )
    match model["model"]:
        case "independent":
            return ["loss", percent(model["probability"])]
        case "gilbert-elliott":
            # r = 1 / burst and p = m r / (1 - m), as in docs/models/loss-gilbert-elliott.md.
            back = 1 / model["burst"]
            return ["loss", "gemodel", percent(model["mean"] * back / (1 - model["mean"])), percent(back)]
        case "markov":
            chances = (model["good_to_bad"], model["bad_to_good"], model["loss_bad"], model["loss_good"])
            return ["loss", "gemodel", *(percent(each) for each in chances)]
        case "four-state":
            return ["loss", "state", *(percent(model[key]) for key in ("p13", "p31", "p32", "p23", "p14"))]
        case "correlated":
            message = "netem's correlated loss loses far less than its mean"
            raise ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE, ("loss",), message, "write model: gilbert-elliott"
            )
    models = "independent, gilbert-elliott, markov or four-state"
    raise ScenarioValueError(
        Code.EXPORT_IMPOSSIBLE, ("loss",), f"netem has no such losses ({model['model']})", f"write {models}"
    )


def _order(direction: Direction, _rough: list[ScenarioValueError]) -> list[str]:
    model = direction["reordering"]
    if model is None:
        return []
    if model["model"] != "early":
        message = "netem reorders by sending packets early, not by delaying them"
        raise ScenarioValueError(
            Code.EXPORT_IMPOSSIBLE, ("reordering",), message, "write for example {gap: 5, early: 25%}"
        )
    return ["reorder", percent(model["probability"]), "gap", str(model["gap"])]


def _shares(direction: Direction, _rough: list[ScenarioValueError]) -> list[str]:
    words = []
    for key in ("duplicate", "corrupt"):
        if direction[key]:
            words += [key, percent(direction[key])]
    return words


def _bucket(direction: Direction, mtu: int, kernel: Kernel, rough: list[ScenarioValueError]) -> str | None:
    """The bucket, with what it counts beside tc's own bytes."""
    model = direction["rate"]
    framing = direction["framing"]
    overhead = framing["overhead_bytes"] - ETHERNET_HEADER
    largest = mtu + framing["overhead_bytes"]
    if framing["cells"]:
        cells = framing["cells"]
        largest = -(-largest // cells["payload_bytes"]) * cells["cell_bytes"]
    peak = ""
    if model["model"] == "unlimited":
        return None
    if model["model"] not in ("constant", "paced", "token-bucket"):
        raise ScenarioValueError(
            Code.EXPORT_IMPOSSIBLE, ("rate",), "tc cannot follow a trace of rates", _FROM_A_TRACE
        )
    tick = -(-model["bits_per_s"] // (8 * kernel.hz))
    if model["model"] == "token-bucket":
        burst = model["burst_bytes"]
        if burst < max(tick, largest):
            message = f"a burst of {burst} bytes may not reach the rate at {kernel.hz} ticks a second"
            rough.append(
                ScenarioValueError(
                    Code.EXPORT_IMPOSSIBLE, ("rate",), message, f"write {max(tick, largest)}B or more"
                )
            )
        if model["peak_bits_per_s"]:
            peak = f" peakrate {rate(model['peak_bits_per_s'])} minburst {largest}"
    else:
        burst = max(tick, 2 * largest)
        if model["model"] == "paced":
            message = f"tc has no pacing: a bucket of {burst} bytes takes its place"
            rough.append(
                ScenarioValueError(
                    Code.EXPORT_IMPOSSIBLE,
                    ("rate",),
                    message,
                    "pace in the sender: sysctl net.core.default_qdisc=fq",
                )
            )
    words = f"tbf rate {rate(model['bits_per_s'])} burst {burst} {_limit(direction, mtu)}{peak}"
    return _counting(framing, overhead, mtu) + words


def _counting(framing: Mapping[str, Any], overhead: int, mtu: int) -> str:
    if framing["cells"]:
        return f"stab linklayer atm overhead {overhead} mtu {mtu + 100} "
    return f"stab overhead {overhead} " if overhead else ""


def _limit(direction: Direction, mtu: int) -> str:
    queue = direction["queue"]
    if queue["limit_bytes"] is not None:
        return f"limit {max(queue['limit_bytes'], mtu + ETHERNET_HEADER)}"
    return f"limit {(queue['limit_packets'] or 0) * (mtu + ETHERNET_HEADER)}"


def queue_words(direction: Direction, mtu: int, rough: list[ScenarioValueError]) -> str | None:
    """The queue in the bucket; ``None`` where the bucket's own, a FIFO of bytes, is meant."""
    queue = direction["queue"]
    discipline = queue["discipline"]
    packets = queue["limit_packets"]
    if packets is None:
        packets = max(1, (queue["limit_bytes"] or 0) // mtu)
    match discipline["kind"]:
        case "fifo":
            return None if queue["limit_packets"] is None else f"pfifo limit {packets}"
        case "head-drop":
            return f"pfifo_head_drop limit {packets}"
        case "codel":
            words = f"target {time(discipline['target_ns'])} interval {time(discipline['interval_ns'])}"
            return f"codel limit {packets} {words} {_ecn(discipline)}"
        case "fq-codel":
            words = f"target {time(discipline['target_ns'])} interval {time(discipline['interval_ns'])}"
            words += f" flows {discipline['flows']} quantum {discipline['quantum_bytes']}"
            return f"fq_codel limit {packets} {words} {_ecn(discipline)}"
        case "pie":
            words = f"target {time(discipline['target_ns'])} tupdate {time(discipline['update_ns'])}"
            # tc counts both in sixteenths.
            words += f" alpha {round(16 * discipline['alpha'])} beta {round(16 * discipline['beta'])}"
            return f"pie limit {packets} {words} {_ecn(discipline)}"
        case "red":
            bits_per_s = rate_of_model(direction["rate"]) or 0
            return " ".join(_red(discipline, packets * mtu, bits_per_s, rough))
    raise ScenarioValueError(
        Code.EXPORT_IMPOSSIBLE,
        ("queue",),
        f"this queue ({discipline['kind']}) needs classes of traffic in tc",
        "write fq-codel",
    )


def _red(
    discipline: RedQueueDiscipline, limit: int, bits_per_s: int, rough: list[ScenarioValueError]
) -> Iterator[str]:
    least, most, packet = discipline["least_bytes"], discipline["most_bytes"], discipline["packet_bytes"]
    shift = min(max(1, round(-log2(discipline["weight"]))), _LEAST_WEIGHT_SHIFT)
    if abs(2**-shift / discipline["weight"] - 1) > _WEIGHT:
        rough.append(
            ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE,
                ("queue",),
                f"tc's weights are powers of 2: {2**-shift:g}, not {discipline['weight']:g}",
                f"write weight: {2**-shift:g}",
            )
        )
    if discipline["gentle"]:
        rough.append(
            ScenarioValueError(
                Code.EXPORT_IMPOSSIBLE,
                ("queue",),
                "tc's RED drops every packet above max",
                "write gentle: false, or a larger max",
            )
        )
    yield f"red limit {limit} min {least} max {most} avpkt {packet}"
    yield f"burst {_burst(shift, least / packet)} bandwidth {rate(bits_per_s)}"
    yield f"probability {discipline['probability']:.9g}"
    if discipline["ecn"]:
        yield "ecn"


def _burst(shift: int, least: float) -> int:
    """The burst for which tc chooses the weight 2^-shift, with ``least`` packets as the lower threshold.

    tc takes the largest weight W with burst + 1 - least <= (1 - (1 - W)^burst) / W.
    """

    def fits(burst: int) -> bool:
        weight = 2.0**-shift
        return burst + 1 - least <= (1 - (1 - weight) ** burst) / weight

    low = ceil(least)
    high = 2 * low + 2
    while fits(high):
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _ecn(discipline: CodelQueueDiscipline | FqCodelQueueDiscipline | PieQueueDiscipline) -> str:
    return "ecn" if discipline["ecn"] else "noecn"
