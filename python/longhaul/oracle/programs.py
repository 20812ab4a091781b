"""What runs in the namespaces: the programs of the plan, with datagrams sent and received by Python."""

from collections.abc import Iterator
from typing import Any

from longhaul.diagnostics import Code, Diagnostic
from longhaul.oracle.layout import namespace
from longhaul.plan import Plan, Program
from longhaul.scenario import Resolved
from longhaul.subprocesses import python_command

DATAGRAMS = "longhaul.oracle.datagrams"
Json = dict[str, Any]


def problems(resolved: Resolved) -> Iterator[Diagnostic]:
    """What of a scenario's traffic and programs the oracle cannot run."""
    scenario = resolved.scenario
    if scenario.document.cpu is not None:
        yield scenario.problem(
            Code.EXPORT_IMPOSSIBLE, ("cpu",), "all hosts of the oracle share one processor", "leave it out"
        )
    for item in resolved.traffic:
        place = ("traffic", item["name"])
        if item["simulated"]:
            yield scenario.problem(
                Code.EXPORT_IMPOSSIBLE,
                (*place, "simulated"),
                "simulated traffic has no packets of Linux",
                "leave it out, or send it for real",
            )
        elif item["kind"] in ("requests", "replay", "pcap"):
            yield scenario.problem(
                Code.EXPORT_IMPOSSIBLE,
                (*place, "kind"),
                f"the oracle has no generator of {item['kind']}",
                "write ping, tcp or udp",
            )
        elif item["kind"] == "udp" and (
            item["arrivals"] != "even" or item["sizes"] != "fixed" or item["on_off"]
        ):
            yield scenario.problem(
                Code.EXPORT_IMPOSSIBLE,
                place,
                "the oracle sends datagrams of one size, evenly spaced, alone",
                "leave out arrivals, sizes and on_off",
            )
        for destination in item["destinations"]:
            node = resolved.plan["nodes"][destination]
            if node["kind"] == "interface":
                yield scenario.problem(
                    Code.EXPORT_IMPOSSIBLE,
                    (*place, "to"),
                    f"hosts of the oracle have one address, and {node['name']} is a second one",
                    "write the host alone",
                )
    spans = {each["name"]: each.get("span") for each in resolved.plan["programs"]}
    for name, program in scenario.document.programs.items():
        span = spans.get(name)
        if program.run is None or (span and (len(span["hosts"]) > 1 or span["slots"] > 1)):
            yield scenario.problem(
                Code.EXPORT_IMPOSSIBLE,
                ("programs", name),
                "the oracle has no parallel programs, real or simulated",
                "leave it out",
            )


def orders(plan: Plan) -> list[Json]:
    """The programs of a plan as the guest starts them."""
    return [_order(plan, program) for program in plan["programs"]]


def _order(plan: Plan, program: Program) -> Json:
    order: Json = {
        "name": program["name"],
        "namespace": namespace(program["host"]),
        "host": plan["nodes"][program["host"]]["name"],
        "argv": list(program["argv"]),
        "cwd": program["cwd"],
        "env": dict(program["env"]),
        "start_ns": program["start_ns"],
        "stop_ns": program["stop_ns"],
        "service": program["service"],
        "ready": program["ready"],
        "after": list(program.get("after", ())),
        "early": bool(program.get("plays")),
    }
    part = program.get("plays")
    if not part:
        return order
    flow = plan["flows"][part["flows"][0]]
    traffic = flow["traffic"]
    assert traffic["kind"] == "udp"
    target = plan["nodes"][flow["destination"]]
    address = target["ipv4"] or target["ipv6"]
    if part["end"] == "sink":
        return {**order, "argv": python_command(DATAGRAMS, "sink", str(address), str(part["port"]))}
    numbers = {
        "bits_per_s": traffic["bits_per_s"],
        "payload_bytes": traffic["payload_bytes"],
        "volume_bytes": traffic["bytes"] or 0,
        "start_ns": flow["start_ns"],
        "stop_ns": flow["stop_ns"] or plan["duration_ns"] or 0,
    }
    words = [f"{name}={value}" for name, value in numbers.items()]
    argv = python_command(DATAGRAMS, "source", str(address), str(part["port"]), *words)
    return {**order, "argv": argv}
