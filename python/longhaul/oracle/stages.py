"""One direction of a link as a chain of Linux queueing disciplines, in the order of a link of Longhaul.

loss (netem) -> queue and rate (tbf with a child) -> serialiser (netem rate) -> delay, jitter, copies (netem)

Each stage has a device of its own, since netem alone has another order: its ``limit`` counts packets in
delay, its losses come first, and what it delays first meets the rate last. Where tc has no words, the
direction is refused; where it only comes near, that is said.

The bucket of tbf holds one packet of the largest size, so that it lets that much pass without serialisation.
The serialiser behind it makes up for this: a shaper before a server of the same rate changes no departure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from longhaul.diagnostics import Code
from longhaul.export.qdiscs import ETHERNET_HEADER, loss_words, percent, queue_words, rate, time
from longhaul.plan import Cells, Direction
from longhaul.scenario.syntax.value_errors import ScenarioValueError

Role = Literal["loss", "queue", "serialiser", "delay"]

LIMIT_PACKETS = 10_000_000
"""Of netem, where a link of Longhaul has no limit."""
LIMIT_BYTES = 2**31 - 1
"""Of a queue without a limit."""
NO_TIME = "rate 8000tbit"
"""A rate at which packets take 0 ns. With a rate, however high, netem keeps packets in order, and counts them
as sent by their socket. Otherwise the kernel would keep TCP from filling the queue behind (TCP small queues),
as if the link were the sender's own network card."""
TICK_NS = 64
"""What netem of iproute2 6.1 counts delays in, cutting off the rest."""
ATM: Cells = {"payload_bytes": 48, "cell_bytes": 53}


@dataclass(frozen=True)
class Stage:
    """A device, and the disciplines on it."""

    role: Role
    commands: tuple[str, ...]
    """What follows ``tc qdisc add dev DEVICE``."""


@dataclass(frozen=True)
class Chain:
    """The stages of one direction, and where they are not the model that was written."""

    stages: tuple[Stage, ...]
    refused: tuple[ScenarioValueError, ...]
    rough: tuple[ScenarioValueError, ...]


def chain(direction: Direction, *, mtu: int, changes: bool = False) -> Chain:
    """The stages of a ``direction`` of a link with this MTU. The last one is always that of the delay.

    If it ``changes`` during the run, it has a stage for losses, too.
    """
    refused = list(_impossible(direction))
    rough: list[ScenarioValueError] = []
    stages: list[Stage] = []
    if not refused:
        limited = direction["rate"]["model"] != "unlimited"
        for part in (_loss, _queue, _serialiser, _delay):
            try:
                stages += part(direction, mtu, limited, rough)
            except ScenarioValueError as error:
                refused.append(error)
    if changes and stages and stages[0].role != "loss":
        stages.insert(0, Stage("loss", (_netem([]),)))
    return Chain(tuple(stages), tuple(refused), tuple(rough))


def _impossible(direction: Direction) -> Iterator[ScenarioValueError]:
    if direction.get("bundle"):
        yield _refusal("routes", "tc has no parallel routes", "write one model")
    if direction.get("pacing"):
        yield _refusal("pacing", "is not part of the oracle", "leave it out")
    if direction["rate"]["model"] not in ("unlimited", "constant", "token-bucket"):
        yield _refusal("rate", f"tc has no such rate ({direction['rate']['model']})", "write a constant rate")
    framing = direction["framing"]
    if framing["cells"] and framing["cells"] != ATM:
        yield _refusal("framing", "tc has cells of 53 bytes alone, 48 of them payload", "write those of ATM")


def _loss(
    direction: Direction, _mtu: int, limited: bool, _rough: list[ScenarioValueError]
) -> Iterator[Stage]:
    words = []
    if limited:
        words.append(NO_TIME)
    if direction["loss_position"] == "ingress" or not direction["up"]:
        words += _losses(direction)
    if words:
        yield Stage("loss", (_netem(words),))


def _queue(direction: Direction, mtu: int, limited: bool, rough: list[ScenarioValueError]) -> Iterator[Stage]:
    if not limited:
        return
    model, framing, queue = direction["rate"], direction["framing"], direction["queue"]
    assert model["model"] in ("constant", "token-bucket")
    if queue["limit_bytes"] is not None and queue["limit_packets"] is not None:
        raise _refusal("queue", "tc limits a queue in packets or in bytes, not in both", "write one limit")
    if framing["overhead_bytes"] and queue["limit_bytes"] is not None:
        rough.append(_refusal("queue", "tc counts the framing in the limit", "write a limit in packets"))
    if framing["least_bytes"] > framing["overhead_bytes"]:
        rough.append(_refusal("framing", "tc does not count the padding of small packets", "write none"))
    largest, burst, peak = _framed(framing, mtu), _framed(framing, mtu), ""
    if model["model"] == "token-bucket":
        burst = model["burst_bytes"]
        if burst < largest:
            raise _refusal(
                "rate", f"a burst below {largest} bytes lets tbf drop", f"write {largest}B or more"
            )
        if model["peak_bits_per_s"]:
            peak = f" peakrate {rate(model['peak_bits_per_s'])} minburst {largest}"
    limit = LIMIT_BYTES if queue["limit_bytes"] is None else queue["limit_bytes"]
    bucket = f"tbf rate {rate(model['bits_per_s'])} burst {burst} limit {limit}{peak}"
    commands = [f"root handle 10: {_counting(framing, mtu)}{bucket}"]
    if queue["limit_packets"] is not None or queue["discipline"]["kind"] != "fifo":
        if queue["limit_packets"] is None and queue["limit_bytes"] is None:
            queue = {**queue, "limit_packets": LIMIT_PACKETS}
        words = queue_words({**direction, "queue": queue}, mtu, rough)
        commands.append(f"parent 10:1 handle 20: {words}")
    yield Stage("queue", tuple(commands))


def _serialiser(
    direction: Direction, _mtu: int, _limited: bool, _rough: list[ScenarioValueError]
) -> Iterator[Stage]:
    model, framing = direction["rate"], direction["framing"]
    if model["model"] != "constant":
        return
    words = ["rate", rate(model["bits_per_s"]), str(framing["overhead_bytes"] - ETHERNET_HEADER)]
    if framing["cells"]:
        words += [str(ATM["payload_bytes"]), str(ATM["cell_bytes"] - ATM["payload_bytes"])]
    yield Stage("serialiser", (_netem(words),))


def _delay(
    direction: Direction, _mtu: int, _limited: bool, _rough: list[ScenarioValueError]
) -> Iterator[Stage]:
    words = _delays(direction)
    model = direction["reordering"]
    if model is not None and model["model"] != "none":
        if model["model"] != "early":
            message = "netem reorders by sending packets early, not by delaying them"
            raise _refusal("reordering", message, "write for example {gap: 5, early: 25%}")
        words += ["reorder", percent(model["probability"]), "gap", str(model["gap"])]
    if direction["loss_position"] != "ingress" and direction["up"]:
        words += _losses(direction)
    for key in ("duplicate", "corrupt"):
        if direction[key]:
            words += [key, percent(direction[key])]
    yield Stage("delay", (_netem(words),))


def _losses(direction: Direction) -> list[str]:
    """Netem's words for losses, wherever they happen."""
    return loss_words({**direction, "loss_position": "ingress"}, [])


def rounding_ns(direction: Direction) -> int:
    """By how much netem's constant delay is shorter (or longer) than that of the direction."""
    model = direction["delay"]
    if model["model"] != "constant":
        return TICK_NS
    whole_us = (model["delay_ns"] + 500) // 1000
    return abs(model["delay_ns"] - whole_us * 1000 // TICK_NS * TICK_NS)


def _delays(direction: Direction) -> list[str]:
    """Netem's words for the delay."""
    model = direction["delay"]
    jitter_ns, shape = 0, ""
    match model["model"]:
        case "constant":
            mean_ns = model["delay_ns"]
        case "uniform":
            mean_ns, jitter_ns = model["mean_ns"], model["half_width_ns"]
        case "normal":
            mean_ns, jitter_ns, shape = model["mean_ns"], model["sd_ns"], "normal"
        case "random" if model["jitter"]["dist"] in ("uniform", "normal"):
            if model["correlation"]:
                raise _refusal("delay", "netem's correlation narrows the jitter", "write no correlation")
            mean_ns, jitter = model["mean_ns"], model["jitter"]
            if jitter["dist"] == "uniform":
                jitter_ns = round((jitter["high"] - jitter["low"]) / 2)
            else:
                jitter_ns, shape = round(jitter["sd"]), "normal"
        case "random":
            message = f"netem has no table of {model['jitter']['dist']} jitter"
            raise _refusal("delay", message, "write uniform or normal jitter")
        case "ticks":
            raise _refusal("delay", "netem has no coarse clock", "write the delay alone")
        case _:
            raise _refusal("delay", "netem cannot follow a trace", "write a constant delay")
    if not jitter_ns:
        return ["delay", time(mean_ns)] if mean_ns else []
    words = ["delay", time(mean_ns), time(jitter_ns), *(["distribution", shape] if shape else [])]
    return words if direction["reorder"] else [*words, NO_TIME]


def _netem(words: list[str]) -> str:
    return " ".join([f"root handle 1: netem limit {LIMIT_PACKETS}", *words])


def _framed(framing: Mapping[str, Any], packet_bytes: int) -> int:
    """What a packet occupies the wire for, in bytes."""
    size: int = packet_bytes + framing["overhead_bytes"]
    return -(-size // ATM["payload_bytes"]) * ATM["cell_bytes"] if framing["cells"] else size


def _counting(framing: Mapping[str, Any], mtu: int) -> str:
    """What makes tbf count IP bytes and framing instead of Ethernet's."""
    overhead = framing["overhead_bytes"] - ETHERNET_HEADER
    if framing["cells"]:
        return f"stab linklayer atm overhead {overhead} mtu {mtu + 100} "
    return f"stab overhead {overhead} " if overhead else ""


def _refusal(key: str, message: str, remedy: str) -> ScenarioValueError:
    return ScenarioValueError(Code.EXPORT_IMPOSSIBLE, (key,), message, remedy)
