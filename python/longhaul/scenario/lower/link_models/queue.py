"""Queues of the plan: limits in packets or bytes, and the discipline."""

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.scenario.lower.link_models.rate import bdp_bytes
from longhaul.scenario.model import Queue, QueueLimit
from longhaul.scenario.model.queue import Codel, Drr, Fifo, FqCodel, HeadDrop, Pie, Priority, Red
from longhaul.scenario.syntax.value_errors import ScenarioValueError

SHORTEST_QUEUE_NS = 10 * 10**6
SHORTEST_QUEUE_PACKETS = 16
UNLIMITED: planned.QueueModel = {"limit_packets": None, "limit_bytes": None, "discipline": {"kind": "fifo"}}


@dataclass(frozen=True)
class LinkContext:
    """What a queue's limit may be measured by."""

    bits_per_s: int | None
    round_trip_ns: int
    mtu: int


def plan_queue(queue: Queue | None, here: LinkContext) -> planned.QueueModel:
    """A queue of the plan; raises :class:`ScenarioValueError` for a limit that needs a rate, without one.

    Times and BDPs become bytes, rounded up.
    """
    if queue is None:
        return default_queue(here)
    discipline = _discipline(queue, here)
    if queue.limit is None:
        return {**default_queue(here), "discipline": discipline}
    limit = queue.limit
    if limit.packets is not None:
        return {"limit_packets": limit.packets, "limit_bytes": None, "discipline": discipline}
    return {"limit_packets": None, "limit_bytes": _bytes(limit, here, "limit"), "discipline": discipline}


def default_queue(here: LinkContext) -> planned.QueueModel:
    """What a direction without a queue of its own gets: finite wherever something can wait.

    The largest of one BDP, 10 ms at the rate, and 16 full packets.
    """
    if here.bits_per_s is None:
        return UNLIMITED
    limit = max(
        bdp_bytes(here.bits_per_s, here.round_trip_ns),
        bdp_bytes(here.bits_per_s, SHORTEST_QUEUE_NS),
        SHORTEST_QUEUE_PACKETS * here.mtu,
    )
    return {**UNLIMITED, "limit_bytes": limit}


def _bytes(limit: QueueLimit, here: LinkContext, key: str) -> int:
    if limit.packets is not None:
        return limit.packets * here.mtu
    if limit.bytes is not None:
        return limit.bytes
    if here.bits_per_s is None:
        unit = "in BDPs" if limit.bdp else "in time"
        raise ScenarioValueError(
            Code.RATE_REQUIRED, (key,), f"a limit {unit} needs a rate", "add rate, or write 100p or 1MiB"
        )
    if limit.ns is not None:
        return bdp_bytes(here.bits_per_s, limit.ns)
    scaled = Fraction(limit.bdp or 1) * here.bits_per_s * here.round_trip_ns / (8 * 10**9)
    return -(-scaled.numerator // scaled.denominator)


def _discipline(queue: Queue, here: LinkContext) -> planned.QueueDiscipline:
    match queue:
        case Fifo():
            return {"kind": "fifo"}
        case HeadDrop():
            return {"kind": "head-drop"}
        case Red():
            least, most = _bytes(queue.min, here, "min"), _bytes(queue.max, here, "max")
            if least >= most:
                raise ScenarioValueError(
                    Code.QUEUE_INVALID, ("max",), f"{most} bytes are not more than min, {least}", "write more"
                )
            return {
                "kind": "red",
                "least_bytes": least,
                "most_bytes": most,
                "probability": float(queue.probability),
                "weight": float(queue.weight),
                "gentle": queue.gentle,
                "ecn": queue.ecn,
                "packet_bytes": here.mtu,
            }
        case Codel():
            return {
                "kind": "codel",
                "target_ns": queue.target.ns,
                "interval_ns": queue.interval.ns,
                "ecn": queue.ecn,
            }
        case FqCodel():
            return {
                "kind": "fq-codel",
                "target_ns": queue.target.ns,
                "interval_ns": queue.interval.ns,
                "quantum_bytes": queue.quantum.bytes,
                "flows": queue.flows,
                "ecn": queue.ecn,
            }
        case Pie():
            return {
                "kind": "pie",
                "target_ns": queue.target.ns,
                "update_ns": queue.update.ns,
                "alpha": queue.alpha,
                "beta": queue.beta,
                "burst_ns": queue.burst.ns,
                "ecn": queue.ecn,
            }
        case Drr():
            return {"kind": "drr", "quantum_bytes": queue.quantum.bytes, "flows": queue.flows}
        case Priority():
            return {"kind": "priority", "bands": list(queue.bands)}
        case _:
            assert_never(queue)
