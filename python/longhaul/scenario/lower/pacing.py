"""The pacing of hosts in the plan: classes, rules, and their changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import longhaul.plan as planned
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import WAYS, Direction, Way
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.events import cause_of
from longhaul.scenario.lower.link_models import bdp_bytes
from longhaul.scenario.lower.link_models.rate import FRAMING
from longhaul.scenario.lower.link_state import NOTHING
from longhaul.scenario.lower.network import NamedNode, Network
from longhaul.scenario.model.pacing import MOST_CLASSES, PROTOCOLS, ClassPacing, Pacing, PacingClass
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.ranges import expand
from longhaul.scenario.syntax.yaml_tree import Path
from longhaul.units.quantities import Rate

DEFAULT_QUEUE_PACKETS = 1000
"""What Linux gives an interface (txqueuelen of ip-link(8))."""
NORMAL = "normal"
# A frame: header 14, FCS 4, 64 bytes at least (IEEE 802.3, clause 3).
_FRAME: planned.Framing = {"overhead_bytes": 18, "least_bytes": 64, "cells": None}


@dataclass(frozen=True)
class Owner:
    """A rule that waits to hear which flows, ports or jobs its traffic and programs have."""

    link: int
    way: Way
    rule: int
    traffic: tuple[str, ...]
    programs: tuple[str, ...]


def plan_pacing(
    scenario: Scenario, network: Network
) -> tuple[dict[tuple[int, Way], planned.Pacing], list[Owner], list[Diagnostic]]:
    """The pacing before every direction that has one, whose rules wait for owners, and what is wrong."""
    found: dict[tuple[int, Way], planned.Pacing] = {}
    owners: list[Owner] = []
    problems: dict[Any, Diagnostic] = {}
    for index, node in enumerate(network.nodes):
        if node.spec.pacing is None:
            continue
        for link, wire in enumerate(network.links):
            for way in WAYS:
                if wire.ends[WAYS.index(way)] == index:
                    task = _Task(scenario, network, node, node.spec.pacing)
                    found[link, way] = task.pacing(getattr(wire, way))
                    owners += [Owner(link, way, *each) for each in task.owners]
                    problems |= {(each.span, each.message): each for each in task.problems}
    return found, owners, list(problems.values())


class _Task:
    """Plans the pacing of one host before one link."""

    def __init__(self, scenario: Scenario, network: Network, node: NamedNode, spec: Pacing) -> None:
        self.scenario, self.network, self.spec = scenario, network, spec
        self.path: Path = (*node.path, "pacing")
        self.problems: list[Diagnostic] = []
        self.owners: list[tuple[int, tuple[str, ...], tuple[str, ...]]] = []

    def wrong(self, code: Code, path: Path, message: str, remedy: str | None) -> None:
        self.problems.append(self.scenario.problem(code, (*self.path, *path), message, remedy))

    def pacing(self, direction: Direction) -> planned.Pacing:
        spec = self.spec
        rate = direction["rate"]
        link_bits_per_s = rate["bits_per_s"] if rate["model"] == "constant" else 0
        line = spec.line_rate.bits_per_s if spec.line_rate else link_bits_per_s
        if not line:
            self.wrong(
                Code.RATE_REQUIRED,
                (),
                "the host's link has no constant rate",
                "write line_rate: 1Gbit, the rate of its card",
            )
        framing = FRAMING[spec.count] if spec.count and spec.count != "psp" else direction["framing"]
        classes: list[planned.PacingClass] = []
        rules: list[planned.PacingRule] = []
        first: dict[str, int] = {}
        for name, each in spec.classes.items():
            first[name] = len(classes)
            if not each.matches and spec.default != name:
                what = f'no packet belongs to class "{name}"'
                self.wrong(
                    Code.PACING_INVALID, ("classes", name), what, f"write to, port, ..., or default: {name}"
                )
            if each.matches:
                rules += self.rule(name, each, first[name], len(rules))
            for number in range(each.flows or 1):
                classes.append(self.plan_class(f"{name}.{number + 1}" if each.flows else name, each))
            if len(classes) > MOST_CLASSES:
                self.wrong(
                    Code.PACING_INVALID,
                    ("classes", name),
                    f"makes more than {MOST_CLASSES} classes",
                    "use fewer",
                )
                break
        if spec.default == NORMAL and NORMAL not in first:
            first[NORMAL] = len(classes)
            classes.append(self.plan_class(NORMAL, PacingClass()))
        if spec.default not in first:
            near = did_you_mean(spec.default, [*spec.classes, NORMAL])
            self.wrong(Code.CLASS_UNKNOWN, ("default",), f'there is no class "{spec.default}"', near)
        if line and (problem := oversubscribed(classes, line)):
            self.wrong(Code.PACING_INVALID, ("classes",), *problem)
        return {
            "line_bits_per_s": line or 1,
            "line_framing": FRAMING["ethernet"] if spec.count == "psp" else framing,
            "class_framing": _FRAME if spec.count == "psp" else framing,
            "classes": classes,
            "default": first.get(spec.default, 0),
            "rules": rules,
        }

    def plan_class(self, name: str, each: PacingClass) -> planned.PacingClass:
        packets: int | None = DEFAULT_QUEUE_PACKETS
        limit: int | None = None
        model = plan_pacing_model(each)
        rate = 0 if model["kind"] == "normal" else model["bits_per_s"]
        if each.latency is not None and model["kind"] == "token-bucket":
            # tbf(8): limit = rate * latency + burst.
            packets, limit = None, bdp_bytes(rate, each.latency.ns) + model["burst_bytes"]
        elif each.queue is not None:
            packets, limit = each.queue.packets, each.queue.bytes
            if each.queue.ns is not None:
                limit = bdp_bytes(rate, each.queue.ns)
        return {"name": name, "model": model, "limit_packets": packets, "limit_bytes": limit}

    def rule(self, name: str, each: PacingClass, first: int, place: int) -> list[planned.PacingRule]:
        path: Path = ("classes", name)
        destinations = []
        for position, text in enumerate(each.to or ()):
            for node in expand(text):
                if node not in self.network.node_index:
                    near = did_you_mean(node, self.network.node_index)
                    self.wrong(Code.NODE_UNKNOWN, (*path, "to", position), f'there is no host "{node}"', near)
                else:
                    destinations.append(self.network.node_index[node])
        document = self.scenario.document
        for key, known in (("traffic", document.traffic), ("program", document.programs)):
            for position, owner in enumerate(getattr(each, key) or ()):
                if owner not in known:
                    near = did_you_mean(owner, known)
                    self.wrong(
                        Code.PROGRAM_UNKNOWN, (*path, key, position), f'there is no {key} "{owner}"', near
                    )
        if each.traffic or each.program:
            self.owners.append((place, each.traffic or (), each.program or ()))
        return [
            {
                "class": first,
                "flows": each.flows or 0,
                "destinations": destinations,
                "ports": [list(ports) for ports in each.port or ()],
                "protocol": PROTOCOLS[each.protocol] if each.protocol else None,
                "dscp": each.dscp,
                "senders": [],
            }
        ]


def plan_pacing_model(model: ClassPacing) -> planned.PacingModel:
    """A class's model of the plan."""
    if model.rate is not None:
        return {"kind": "paced", "bits_per_s": model.rate.bits_per_s}
    if model.bucket is not None and model.burst is not None:
        return {
            "kind": "token-bucket",
            "bits_per_s": model.bucket.bits_per_s,
            "burst_bytes": model.burst.bytes,
            "peak_bits_per_s": model.peak.bits_per_s if model.peak else None,
        }
    return {"kind": "normal"}


def oversubscribed(classes: Sequence[planned.PacingClass], line: int) -> tuple[str, str] | None:
    """What is wrong if the classes promise more than the line carries, and the remedy."""
    models = [each["model"] for each in classes]
    rates = [model["bits_per_s"] for model in models if model["kind"] != "normal"]
    if sum(rates) <= line:
        return None
    who = f"{len(rates)} classes need" if len(rates) > 1 else "a class needs"
    message = f"{who} {Rate(sum(rates))} of a line of {Rate(line)}"
    return message, f"reduce the rates by {Rate(sum(rates) - line)}"


def plan_pacing_events(
    scenario: Scenario, network: Network, pacings: Mapping[tuple[int, Way], planned.Pacing]
) -> tuple[list[tuple[int, int, planned.Event]], list[Diagnostic]]:
    """Time, position and event of the plan of every change of pacing, and what is wrong with them."""
    found: list[tuple[int, int, planned.Event]] = []
    problems: list[Diagnostic] = []
    classes = {place: list(pacing["classes"]) for place, pacing in pacings.items()}
    order = sorted(enumerate(scenario.document.events), key=lambda item: item[1].at.ns)
    for position, event in order:
        path: Path = ("events", position)
        for host in (event.host or ()) if event.pacing is not None else ():
            index = network.node_index.get(host)
            mine = [place for place in pacings if network.links[place[0]].ends[WAYS.index(place[1])] == index]
            if not mine:
                known = [node.name for node in network.nodes if node.spec.pacing]
                message = f'there is no host "{host}" that paces'
                problems.append(
                    scenario.problem(Code.NODE_UNKNOWN, (*path, "host"), message, did_you_mean(host, known))
                )
            for place in mine:
                link, way = place
                changes: list[planned.PacingChange] = []
                for name, model in (event.pacing or {}).items():
                    numbers = list(class_numbers(pacings[place]["classes"], name))
                    if not numbers:
                        names = [each["name"] for each in pacings[place]["classes"]]
                        near = did_you_mean(name, names)
                        message = f'"{host}" has no class "{name}"'
                        problems.append(
                            scenario.problem(Code.CLASS_UNKNOWN, (*path, "pacing", name), message, near)
                        )
                    for number in numbers:
                        new = plan_pacing_model(model)
                        classes[place][number] = {**classes[place][number], "model": new}
                        changes.append({"class": number, "model": new})
                wrong = oversubscribed(classes[place], pacings[place]["line_bits_per_s"])
                if changes and wrong:
                    problems.append(scenario.problem(Code.PACING_INVALID, (*path, "pacing"), *wrong))
                change: planned.Event = {
                    "at_ns": event.at.ns,
                    "link": link,
                    "direction": way,
                    "route": None,
                    "change": cast("planned.Change", {**NOTHING, "pacing": changes}),
                    "cause": cause_of(position, event),
                }
                found.append((event.at.ns, position, change))
    return found, problems


def class_numbers(classes: Sequence[planned.PacingClass], name: str) -> Iterator[int]:
    """The positions of the class called ``name``, or of all that its flows have."""
    for number, each in enumerate(classes):
        stem, dot, last = each["name"].rpartition(".")
        if each["name"] == name or (dot and stem == name and last.isdecimal()):
            yield number
