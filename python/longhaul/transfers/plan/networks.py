"""Link capacities and paths of a scenario."""

from longhaul.plan import WAYS, Direction, Plan, Way
from longhaul.scenario.lower.link_models import plan_bits_per_s
from longhaul.scenario.lower.paths import Routes
from longhaul.transfers.plan.instances import Link, Network

HEADERS_BYTES = {"ipv4": 20 + 20 + 12, "ipv6": 40 + 20 + 12}
"""Of IP and TCP with timestamps."""


def scenario_network(plan: Plan, *, payload: bool = False) -> Network:
    """The network of a resolved scenario: its rates each way, and the ways that its packets take.

    Links without a rate limit nothing and are left out. With ``payload``, capacities are those for what TCP
    carries, without headers, if all packets are as large as the smallest MTU allows.
    """
    names = [str(node["name"]) for node in plan["nodes"]]
    position = {name: index for index, name in enumerate(names)}
    routes = Routes(plan)
    links: list[Link] = []
    known: dict[tuple[int, Way], int] = {}
    for index, link in enumerate(plan["links"]):
        a, b = (names[each] for each in link["endpoints"])
        for way in WAYS:
            ends = f"{a} > {b}" if way == "forward" else f"{b} > {a}"
            bits_per_s = plan_bits_per_s(link[way])
            if bits_per_s is not None:
                known[index, way] = len(links)
                of_payload = payload_share(plan, link[way]) if payload else 1.0
                links.append(Link(f"{link['name']} {ends}", bits_per_s * of_payload))

    def between(source: str, destination: str) -> tuple[int, ...] | None:
        steps = routes.steps(position[source], position[destination])
        return None if steps is None else tuple(known[step] for step in steps if step in known)

    return Network(tuple(names), tuple(links), between)


def payload_share(plan: Plan, direction: Direction) -> float:
    """The share of a direction's rate that TCP's payload has, in packets that pass everywhere.

    ``(m - h) / c(m)`` with the least MTU ``m`` of the plan, headers ``h`` of IP and TCP with timestamps, and
    the bytes ``c`` that the direction counts for a packet.
    """
    nodes = [node for node in plan["nodes"] if node["kind"] == "host"]
    packet = min([link["mtu"] for link in plan["links"]] + [node["mtu"] for node in nodes if node["mtu"]])
    headers = HEADERS_BYTES["ipv4" if all(node["ipv4"] for node in nodes) else "ipv6"]
    bundle = direction.get("bundle")
    framing = (bundle["routes"][0] if bundle else direction)["framing"]
    counted = max(packet + framing["overhead_bytes"], framing["least_bytes"])
    cells = framing["cells"]
    if cells:
        counted = -(-counted // cells["payload_bytes"]) * cells["cell_bytes"]
    return float(packet - headers) / float(counted)


def link_changes(plan: Plan) -> list[tuple[float, int, float]]:
    """When links change their rates, go down or come back: time (s), link of the network, payload (bit/s).

    In the order of time; what changes the delay or the losses alone is none of it.
    """
    numbers: dict[tuple[int, Way], int] = {}
    for index, link in enumerate(plan["links"]):
        for way in WAYS:
            if plan_bits_per_s(link[way]) is not None:
                numbers[index, way] = len(numbers)
    rates = {key: plan_bits_per_s(plan["links"][key[0]][key[1]]) for key in numbers}
    up = {key: bool(plan["links"][key[0]][key[1]].get("up", True)) for key in numbers}
    found = []
    for event in sorted(plan["events"], key=lambda each: each["at_ns"]):
        if event.get("route") is not None:
            continue
        for way in WAYS:
            key = (event["link"], way)
            if key not in numbers or event.get("direction") not in (None, way):
                continue
            change = event["change"]
            if change.get("rate") is not None:
                rates[key] = plan_bits_per_s({**plan["links"][key[0]][way], "rate": change["rate"]})
            if (is_up := change.get("up")) is not None:
                up[key] = is_up
            if change.get("rate") is not None or change.get("up") is not None:
                direction = plan["links"][key[0]][way]
                bits = (rates[key] or 0) * payload_share(plan, direction) if up[key] else 0.0
                found.append((event["at_ns"] / 1e9, numbers[key], bits))
    return found
