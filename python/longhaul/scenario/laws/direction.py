"""A whole direction of a link in the plan's words, with its parallel routes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longhaul.scenario.inputs import Inputs, within
from longhaul.scenario.laws.delay import plan_reordering
from longhaul.scenario.laws.distribution import Plain
from longhaul.scenario.laws.loss import plan_loss
from longhaul.scenario.laws.queue import UNLIMITED, Surroundings, plan_queue
from longhaul.scenario.laws.rate import FRAMING, rate_of_law
from longhaul.scenario.model import Delay, DelayTrace, Routes
from longhaul.scenario.model.routes import Effects
from longhaul.scenario.units import Share

LAWS = ("up", "delay", "rate", "loss", "queue", "reordering", "duplicate", "corrupt", "count", "routes")


def merge(layers: Iterable[Effects | None]) -> Plain:
    """Laws by name, each from the last layer that speaks of it."""
    merged: Plain = {}
    for layer in layers:
        if layer is not None:
            merged |= {name: value for name in LAWS if (value := getattr(layer, name, None)) is not None}
    return merged


def route_laws(laws: Mapping[str, Any]) -> list[Plain]:
    """The merged laws of each parallel route; of the direction itself where it has none.

    A route does not inherit ``up``, which closes the whole link.
    """
    routes: Routes | None = laws.get("routes")
    if routes is None:
        return [dict(laws)]
    of_link = {name: value for name, value in laws.items() if name not in ("up", "routes")}
    of_all = {name: value for name, value in merge([routes]).items() if name != "count"}
    delays: Sequence[Delay | DelayTrace] = routes.delays or ()
    each = routes.each or ()
    return [
        {
            **of_link,
            **of_all,
            **({"delay": delays[number]} if delays else {}),
            **(merge([each[number]]) if each else {}),
        }
        for number in range(routes.number)
    ]


def plan_direction(
    laws: Mapping[str, Any],
    inputs: Inputs,
    *,
    delay: Plain,
    rate: Plain,
    mean_ns: int,
    round_trip_ns: int,
    mtu: int,
) -> Plain:
    """A direction of the plan without routes. ``laws`` are merged; ``delay`` and ``rate`` are planned.

    Raises :class:`LawError` from the law's name on, and :class:`FileError`.
    """
    here = Surroundings(rate_of_law(rate), round_trip_ns, mtu)
    with within("loss"):
        loss = plan_loss(laws.get("loss"), inputs)
    with within("queue"):
        queue = plan_queue(laws.get("queue"), here)
    with within("reordering"):
        reordering = plan_reordering(laws.get("reordering"), mean_ns)
    law = laws.get("delay")
    return {
        "up": laws.get("up", True),
        "loss": loss,
        "loss_position": getattr(laws.get("loss"), "position", None) or "ingress",
        "queue": queue,
        "rate": rate,
        "framing": FRAMING[laws.get("count", "ip")],
        "delay": delay,
        "reorder": bool(law and law.reorder),
        "reordering": reordering,
        "duplicate": _share(laws.get("duplicate")),
        "corrupt": _share(laws.get("corrupt")),
        "bundle": None,
    }


def plan_bundle(laws: Mapping[str, Any], routes: Sequence[Plain], *, mean_ns: int) -> Plain:
    """A direction of the plan that is made of ``routes``; its delay and rate are theirs together."""
    law: Routes = laws["routes"]
    rates = [rate_of_law(route["rate"]) for route in routes]
    known = [rate for rate in rates if rate is not None]
    total = {"law": "constant", "bits_per_s": sum(known)} if len(known) == len(rates) else None
    again = law.resequence
    return {
        "up": laws.get("up", True),
        "loss": {"law": "none"},
        "loss_position": "ingress",
        "queue": dict(UNLIMITED),
        "rate": total or {"law": "unlimited"},
        "framing": FRAMING["ip"],
        "delay": {"law": "constant", "delay_ns": mean_ns},
        "reorder": False,
        "reordering": None,
        "duplicate": 0.0,
        "corrupt": 0.0,
        "bundle": {
            "policy": _policy(law),
            "routes": list(routes),
            "resequence": {"wait_ns": again.wait.ns, "limit_bytes": again.limit.bytes} if again else None,
        },
    }


def _policy(law: Routes) -> Plain:
    match law.policy:
        case "flow-hash":
            return {"law": law.policy, "key": law.key}
        case "weighted":
            return {"law": law.policy, "weights": list(law.weights or ())}
        case "flowlet":
            return {"law": law.policy, "gap_ns": law.gap.ns}
    return {"law": law.policy}


def _share(share: Share | None) -> float:
    return float(share) if share else 0.0
