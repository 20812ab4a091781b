"""Background load: simulated datagrams from one end of a link to the other, as a share of its rate."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Plan, RouteOverride
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.datagrams import HEADERS, payload_at
from longhaul.scenario.lower.link_models import Plain, plan_bits_per_s
from longhaul.scenario.lower.network import Network, Wire
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.model import Background
from longhaul.scenario.model.start import earliest_ns

PARETO_SHAPE = 1.5
"""Of times of sending and of silence: many such flows have a Hurst parameter of 0.75."""


def plan_background(scenario: Scenario, name: str, load: Background, network: Network) -> Plain | Diagnostic:
    """The flow of ``load``, with the fields that every flow of :func:`resolve` has; or what is wrong."""
    link = network.links[network.link_index[load.link]]
    headers = HEADERS["ipv6" if scenario.document.addresses == "ipv6" else "ipv4"]
    payload = load.size.bytes if load.size else payload_at(link.mtu)
    if payload + headers > link.mtu:
        message = f'datagrams of {payload} bytes do not pass "{load.link}", whose MTU is {link.mtu}'
        remedy = f"write {link.mtu - headers}B or less"
        return scenario.problem(Code.DATAGRAM_SIZE, ("traffic", name, "size"), message, remedy)
    full = _full_bits_per_s(load, link, payload=payload, headers=headers)
    if full is None:
        message = f'"{load.link}" has no rate that load could be a share of'
        return scenario.problem(
            Code.RATE_REQUIRED, ("traffic", name, "link"), message, "give the link a rate"
        )
    share = load.load.share
    source, destination = link.ends if load.direction == "forward" else link.ends[::-1]
    bursts = load.arrivals == "pareto" and share < 1
    return {
        "name": name,
        "kind": "udp",
        "source": source,
        "destinations": [destination],
        "start_ns": earliest_ns(load.start),
        "stop_ns": load.stop.ns if load.stop else None,
        "simulated": True,
        "rate_bits_per_s": max(round(full if bursts else full * share), 1),
        "bytes": None,
        "size_bytes": payload,
        "arrivals": "poisson" if load.arrivals == "poisson" else "even",
        "sizes": "fixed",
        "on_off": _bursts(load.burst.ns, share) if bursts else None,
    }


def detours(scenario: Scenario, network: Network, plan: Plan) -> tuple[list[RouteOverride], list[Diagnostic]]:
    """Routes that take background load over its own link where packets between its ends would not go."""
    routes, problems = Routes(plan), []
    taken = {(route["node"], route["destination"]): route["link"] for route in plan["routes"]}
    found: list[RouteOverride] = []
    for name, load in scenario.document.traffic.items():
        if not isinstance(load, Background):
            continue
        index = network.link_index[load.link]
        ends: Sequence[int] = network.links[index].ends
        at, to = ends if load.direction == "forward" else ends[::-1]
        step = routes.next(at, to)
        if taken.get((at, to), step[0] if step else None) == index:
            taken[at, to] = index
            continue
        if (at, to) in taken:
            other = network.links[taken[at, to]].name
            message = f'another background load, or routes, send packets between the same ends over "{other}"'
            problems.append(
                scenario.problem(
                    Code.BACKGROUND_LOAD, ("traffic", name, "link"), message, "name one link of the two"
                )
            )
            continue
        taken[at, to] = index
        found.append({"node": at, "destination": to, "link": index})
    return found, problems


def _full_bits_per_s(load: Background, link: Wire, *, payload: int, headers: int) -> Fraction | None:
    """Bit/s of payload that fill the link: it counts headers and framing, too."""
    models = link.forward if load.direction == "forward" else link.reverse
    rate = plan_bits_per_s(models)
    return None if rate is None else Fraction(rate * payload, _occupied(payload + headers, models))


def _occupied(ip_bytes: int, models: Mapping[str, Any]) -> int:
    framing = models["framing"]
    total = max(ip_bytes + int(framing["overhead_bytes"]), int(framing["least_bytes"]))
    cells = framing["cells"]
    return -(-total // int(cells["payload_bytes"])) * int(cells["cell_bytes"]) if cells else total


def _bursts(mean_ns: int, share: Fraction) -> list[Plain]:
    """Times of sending at the full rate, and of silence, with ``share`` of the time spent sending."""
    means = (mean_ns, mean_ns * (1 - share) / share)
    # The mean of a Pareto distribution is scale shape / (shape - 1).
    scale = (PARETO_SHAPE - 1) / PARETO_SHAPE
    return [{"dist": "pareto", "shape": PARETO_SHAPE, "scale": float(mean) * scale} for mean in means]
