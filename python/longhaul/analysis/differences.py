"""Differences between the configurations of runs: networks, traffic and programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul.analysis.wording import model_text, value_text
from longhaul.plan import WAYS, Plan
from longhaul.scenario.lower.congestion_control import CC_SYSCTL
from longhaul.units.text import time_text

Json = Mapping[str, Any]

ABSENT = "-"
_MODELS = (
    "delay",
    "rate",
    "loss",
    "queue",
    "reordering",
    "reorder",
    "duplicate",
    "corrupt",
    "bundle",
    "framing",
    "loss_position",
    "up",
)
_TRAFFIC = (
    ("kind", "kind"),
    ("from", "from"),
    ("to", "to"),
    ("cc", "congestion control"),
    ("rate_bits_per_s", "rate"),
    ("every_ns", "every"),
    ("volume_bytes", "volume"),
    ("start_ns", "start"),
    ("stop_ns", "stop"),
)
_TOLD = ("kind", "cc", "streams", "bits_per_s", "every_ns", "bytes")
"""Keys of a flow's traffic that its row has, too."""
_DETAILS = "details"
"""Of traffic, told where nothing else of it differs."""
_MOST_CHARACTERS = 90


@dataclass(frozen=True)
class Fact:
    """A property of something, as text and exactly."""

    text: str
    exact: str

    def __str__(self) -> str:
        """The text alone."""
        return self.text


Facts = Mapping[tuple[str, str], Fact]
"""By what they are about (``link par-nyc``) and the property (``delay``)."""


@dataclass(frozen=True)
class Difference:
    """A property that is not the same everywhere, and whose it is."""

    subjects: tuple[str, ...]
    """Such as ``link par-nyc``: all whose property differs in the same way."""
    what: str
    values: tuple[str, ...]
    """As text, in the order of the sides; :data:`ABSENT` where there is no such thing."""

    @property
    def subject(self) -> str:
        """``links a-b, b-c and 6 more``."""
        kind, _, first = self.subjects[0].partition(" ")
        if len(self.subjects) == 1:
            return self.subjects[0]
        names = [each.partition(" ")[2] for each in self.subjects]
        shown = names if len(names) <= 3 else names[:2]
        more = "" if shown == names else f" and {len(names) - len(shown)} more"
        plural = kind if kind == "traffic" or not first else f"{kind}s"
        return f"{plural} {', '.join(shown)}{more}"


def facts(plan: Plan, traffic: Sequence[Json] = (), *, programs: Sequence[Json] = ()) -> Facts:
    """What a plan says of the network, what its traffic is, and which real programs run.

    The seed is left out: repetitions differ in it. ``traffic`` is that of ``raw/traffic.json``; ``programs``
    are those of the summary that are not traffic.
    """
    found: dict[tuple[str, str], Fact] = {("run", "duration"): _fact("duration_ns", plan["duration_ns"])}
    names = [node["name"] for node in plan["nodes"]]
    for node in plan["nodes"]:
        found |= _node(node)
    for place, link in enumerate(plan["links"]):
        events = [each for each in plan.get("events", ()) if each.get("link") == place]
        found |= _link(link, names, events)
    found |= _traffic(traffic, {flow["name"]: flow.get("traffic", {}) for flow in plan.get("flows", ())})
    for program in programs:
        command = " ".join(program["argv"])
        found["program " + program["name"], "command"] = Fact(_short(command), command)
    return found


def differences(sides: Sequence[Facts]) -> list[Difference]:
    """Each property that differs between sides, things with the same difference in one.

    Of something that all sides have, only properties that all of them have recorded are compared.
    """
    keys = dict.fromkeys(key for side in sides for key in side)
    present = [{subject for subject, _ in side} for side in sides]
    grouped: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    whole: set[str] = set()
    for subject, what in keys:
        found = [side.get((subject, what)) for side in sides]
        if not all(subject in each for each in present):
            # One line says that it is not everywhere; its properties would say it again.
            if subject in whole:
                continue
            whole.add(subject)
        elif None in found or len({each.exact for each in found if each}) == 1:
            continue
        values = tuple(each.text if each else ABSENT for each in found)
        exact = tuple(each.exact if each else ABSENT for each in found)
        grouped.setdefault((subject.partition(" ")[0], what, values, exact), []).append(subject)
    explained = {one for key, subjects in grouped.items() if key[1] != _DETAILS for one in subjects}
    told = {
        key: [one for one in subjects if key[1] != _DETAILS or one not in explained]
        for key, subjects in grouped.items()
    }
    return [
        Difference(tuple(subjects), what, _told_apart(values))
        for (_, what, values, _), subjects in told.items()
        if subjects
    ]


def _told_apart(values: tuple[str, ...]) -> tuple[str, ...]:
    """Long models may differ where their texts do not."""
    return values if len(set(values)) > 1 else tuple(f"{each}, different in detail" for each in values)


def _node(node: Json) -> dict[tuple[str, str], Fact]:
    subject = f"{node['kind']} {node['name']}"
    control = node.get("sysctls", {}).get(CC_SYSCTL)
    found = {
        (subject, "is a"): _fact("", node["kind"]),
        (subject, "MTU"): _fact("", node.get("mtu") or None),
        (subject, "congestion control"): _fact("", control),
    }
    # "pacing" is there without any, too, so that what one side alone has is a difference.
    return {**found, (subject, "pacing"): _fact("", node.get("pacing") or None)}


def _link(link: Json, names: Sequence[str], events: Sequence[Json]) -> dict[tuple[str, str], Fact]:
    subject = f"link {link['name']}"
    ends = " to ".join(names[end] for end in link["endpoints"])
    found = {(subject, "joins"): Fact(ends, ends), (subject, "MTU"): _fact("", link["mtu"])}
    for model in _MODELS:
        ways = [link[way].get(model) for way in WAYS]
        if ways[0] == ways[1]:
            found[subject, model.replace("_", " ")] = _fact(_share_key(model), ways[0])
        else:
            there, back = (_fact(_share_key(model), each).text for each in ways)
            text = f"{there} there, {back} back"
            found[subject, model.replace("_", " ")] = Fact(_short(text), _exactly(ways))
    found[subject, "changes"] = _changes(events)
    return found


def _share_key(model: str) -> str:
    return "probability" if model in ("duplicate", "corrupt") else ""


def _changes(events: Sequence[Json]) -> Fact:
    """When a link changes, and what it is at the end."""
    if not events:
        return Fact("none", "[]")
    last: dict[str, Any] = {}
    for event in events:
        last |= {key: model for key, model in event["change"].items() if model not in (None, [])}
    span = dict.fromkeys(time_text(events[place]["at_ns"]) for place in (0, -1))
    states = ", ".join(f"{key.replace('_', ' ')} {value_text('', model)}" for key, model in last.items())
    told = [{key: each for key, each in event.items() if key != "link"} for event in events]
    return Fact(_short(f"{len(events)}, at {' to '.join(span)}; then {states}"), _exactly(told))


def _traffic(rows: Sequence[Json], flows: Mapping[str, Json]) -> dict[tuple[str, str], Fact]:
    found: dict[tuple[str, str], Fact] = {}
    counted: dict[str, int] = {}
    for row in rows:
        counted[row["name"]] = counted.get(row["name"], 0) + 1
    for row in rows:
        name = row["name"] if counted[row["name"]] == 1 else f"{row['name']}.{row['to']}"
        subject = f"traffic {name}"
        found |= {(subject, what): _fact(key, row[key]) for key, what in _TRAFFIC if key in row}
        if row.get("start"):
            # Each seed has another.
            found[subject, "start"] = _fact("", row["start"])
        if "streams" in row:
            found[subject, "streams"] = _fact("", row["streams"])
        model = flows.get(row.get("program", ""))
        if model:
            rest = {key: each for key, each in model.items() if key not in _TOLD and each is not None}
            found[subject, _DETAILS] = _fact("", rest)
        ends = "simulated" if row.get("simulated") else "real"
        found[subject, "ends"] = Fact(ends, ends)
    return found


def _fact(key: str, value: Any) -> Fact:
    text = model_text(value) if isinstance(value, Mapping) else value_text(key, value)
    return Fact(_short(text), _exactly(value))


def _exactly(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 3]}..."


def unlike(runs: Iterable[Facts]) -> list[Difference]:
    """What differs among runs that should be repetitions of one another; each against the first."""
    first, *others = runs
    return list(dict.fromkeys(found for other in others for found in differences([first, other])))
