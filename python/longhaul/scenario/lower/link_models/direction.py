"""A direction of a link in the plan, with its parallel routes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

import longhaul.plan as planned
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models.delay import plan_reordering
from longhaul.scenario.lower.link_models.distribution import Plain
from longhaul.scenario.lower.link_models.loss import plan_loss
from longhaul.scenario.lower.link_models.queue import UNLIMITED, LinkContext, plan_queue
from longhaul.scenario.lower.link_models.rate import FRAMING, rate_of_model
from longhaul.scenario.model import Delay, DelayTrace, Routes
from longhaul.scenario.model.routes import Effects
from longhaul.scenario.syntax.value_errors import within
from longhaul.units.quantities import Share

MODELS = ("up", "delay", "rate", "loss", "queue", "reordering", "duplicate", "corrupt", "count", "routes")


def merge(layers: Iterable[Effects | None]) -> Plain:
    """Models by key, each from the last layer that has it."""
    merged: Plain = {}
    for layer in layers:
        if layer is not None:
            merged |= {name: value for name in MODELS if (value := getattr(layer, name, None)) is not None}
    return merged


def route_models(models: Mapping[str, Any]) -> list[Plain]:
    """The merged models of each parallel route; of the direction itself where it has none.

    A route does not inherit ``up``, which closes the whole link.
    """
    routes: Routes | None = models.get("routes")
    if routes is None:
        return [dict(models)]
    of_link = {name: value for name, value in models.items() if name not in ("up", "routes")}
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


def plan_link_model(
    models: Mapping[str, Any],
    inputs: Inputs,
    *,
    delay: planned.DelayModel,
    rate: planned.RateModel,
    mean_ns: int,
    round_trip_ns: int,
    mtu: int,
) -> planned.LinkModel:
    """The link model of a direction or a route. ``models`` are merged; ``delay`` and ``rate`` are planned.

    Raises :class:`ScenarioValueError` from the model's name on, and :class:`FileError`.
    """
    here = LinkContext(rate_of_model(rate), round_trip_ns, mtu)
    with within("loss"):
        loss = plan_loss(models.get("loss"), inputs)
    with within("queue"):
        queue = plan_queue(models.get("queue"), here)
    with within("reordering"):
        reordering = plan_reordering(models.get("reordering"), mean_ns)
    model = models.get("delay")
    return {
        "up": models.get("up", True),
        "loss": loss,
        "loss_position": getattr(models.get("loss"), "position", None) or "ingress",
        "queue": queue,
        "rate": rate,
        "framing": FRAMING[models.get("count", "ip")],
        "delay": delay,
        "reorder": bool(model and model.reorder),
        "reordering": reordering,
        "duplicate": _share(models.get("duplicate")),
        "corrupt": _share(models.get("corrupt")),
    }


def plan_bundle(
    models: Mapping[str, Any], routes: Sequence[planned.LinkModel], *, mean_ns: int
) -> planned.Direction:
    """A direction of the plan that is made of ``routes``; its delay and rate are theirs together."""
    model: Routes = models["routes"]
    rates = [rate_of_model(route["rate"]) for route in routes]
    known = [rate for rate in rates if rate is not None]
    total: planned.RateModel = {"model": "unlimited"}
    if len(known) == len(rates):
        total = {"model": "constant", "bits_per_s": sum(known)}
    again = model.resequence
    return {
        "up": models.get("up", True),
        "loss": {"model": "none"},
        "loss_position": "ingress",
        "queue": UNLIMITED,
        "rate": total,
        "framing": FRAMING["ip"],
        "delay": {"model": "constant", "delay_ns": mean_ns},
        "reorder": False,
        "reordering": None,
        "duplicate": 0.0,
        "corrupt": 0.0,
        "bundle": {
            "policy": _policy(model),
            "routes": list(routes),
            "resequence": {"wait_ns": again.wait.ns, "limit_bytes": again.limit.bytes} if again else None,
        },
    }


def _policy(routes: Routes) -> planned.Policy:
    match routes.policy:
        case "flow-hash":
            return {"kind": "flow-hash", "key": routes.key}
        case "weighted":
            return {"kind": "weighted", "weights": list(routes.weights or ())}
        case "flowlet":
            return {"kind": "flowlet", "gap_ns": routes.gap.ns}
        case "round-robin":
            return {"kind": "round-robin"}
        case "vlan-block":
            return {"kind": "vlan-block"}
        case "least-queued":
            return {"kind": "least-queued"}
        case _:
            assert_never(routes.policy)


def _share(share: Share | None) -> float:
    return float(share) if share else 0.0
