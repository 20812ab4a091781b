"""A network of another tool as the text of a scenario, with a list of what could not be carried over."""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.draft import comment, key
from longhaul.scenario.expand.topologies.importing import Made
from longhaul.scenario.expand.topologies.naming import node_name, unique
from longhaul.units.quantities import Rate, Share, Span, UnitError

Engine = Literal["docker", "podman"]
"""What runs the containers of a lab."""
_WIDTH = 110
_HOST = re.compile(r"[a-z][a-z0-9-]{0,28}[a-z0-9]|[a-z]")
"""Names that stay as they are; a link's name holds two of them."""
_PLAIN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_./:-]*[A-Za-z0-9]")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off"))
MOST_NODES = 20_000
"""What a scenario may have."""


@dataclass
class Lab:
    """A network under construction; names are those of the file."""

    format: str
    file: str
    name: str
    nodes: dict[str, str] = field(default_factory=dict)
    """``host`` or ``router`` by name."""
    notes: dict[str, str] = field(default_factory=dict)
    """A comment for a node."""
    ports: dict[str, str] = field(default_factory=dict)
    """``port`` of a host that exists without the scenario, such as ``docker:db``."""
    links: list[dict[str, Any]] = field(default_factory=list)
    """``endpoints``, and keys of the scenario language."""
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    """``at_ns``, ``link`` with positions in ``links`` or ``node`` with names, and what changes."""
    left_out: list[tuple[int | None, str]] = field(default_factory=list)
    """Line, and what was not carried over."""

    def leave_out(self, line: int | None, what: str) -> None:
        """Note something that the scenario does not have."""
        self.left_out.append((line, printable(what, limit=300)))

    def wrong(self, line: int | None, message: str, remedy: str) -> LonghaulError:
        """An error at a line of the file."""
        place = f"{self.file}:{line}" if line else self.file
        return LonghaulError(
            Code.FOREIGN_FILE_MALFORMED,
            f"{place}: {printable(message, limit=400)}",
            remedy=remedy,
            exit_code=2,
        )

    def add_node(self, name: str, kind: str, *, line: int | None = None, note: str = "") -> None:
        """A node that is not there yet."""
        if name in self.nodes:
            raise self.wrong(line, f'there are two nodes "{name}"', "rename one of them")
        if len(self.nodes) >= MOST_NODES:
            raise self.wrong(line, f"there are more than {MOST_NODES} nodes", "use fewer")
        self.nodes[name] = kind
        if note:
            self.notes[name] = note

    def add_link(self, ends: tuple[str, str], settings: Mapping[str, Any], *, line: int | None = None) -> int:
        """A link; returns its position."""
        for end in ends:
            if end not in self.nodes:
                raise self.wrong(line, f'a link ends at "{end}", which is not a node', "correct the name")
        if ends[0] == ends[1]:
            raise self.wrong(line, f'a link begins and ends at "{ends[0]}"', "name two nodes")
        self.links.append({"endpoints": list(ends), **settings})
        return len(self.links) - 1


def made(lab: Lab) -> Made:
    """The scenario of ``lab``. Raises LonghaulError if it has nothing to run."""
    if not lab.links:
        raise lab.wrong(None, "has no links between nodes", "take a file with a network in it")
    linked = {end for link in lab.links for end in link["endpoints"]}
    for name in [each for each in lab.nodes if each not in linked]:
        lab.leave_out(None, f'node "{name}", which no link reaches')
        del lab.nodes[name]
        lab.programs = {key: each for key, each in lab.programs.items() if each["host"] != name}
    wanted = [
        each if _HOST.fullmatch(each) and each != "localhost" else node_name(each, otherwise=f"node-{place}")
        for place, each in enumerate(lab.nodes, 1)
    ]
    names = dict(zip(lab.nodes, unique(wanted), strict=True))
    title = node_name(lab.name, otherwise="lab")
    lines = [*_head(lab), "version: 1", f"name: {title}", "seed: 1", "duration: 10s"]
    if lab.ports:
        # Containers have an IPv6 stack only if their engine was told so.
        lines.append("addresses: ipv4")
    lines += _body(lab, names)
    warnings = tuple(
        f"{lab.file}{f':{line}' if line else ''}: not carried over: {what}" for line, what in _omissions(lab)
    )
    return Made(title, "\n".join(lines) + "\n", warnings)


def _omissions(lab: Lab) -> list[tuple[int | None, str]]:
    """What was not carried over, in the order of the lines."""
    return sorted(dict.fromkeys(lab.left_out), key=lambda each: each[0] or 0)


def _head(lab: Lab) -> Iterator[str]:
    yield from comment(f"Imported from {lab.file} ({lab.format}).")
    omissions = _omissions(lab)
    if omissions:
        yield "#"
        yield "# Not carried over:"
    for line, what in omissions:
        place = f"line {line}: " if line else ""
        yield from (
            f"# {'- ' if first else '  '}{text[2:]}" for first, text in _marked(comment(f"{place}{what}"))
        )


def _marked(lines: list[str]) -> Iterator[tuple[bool, str]]:
    yield from ((place == 0, text) for place, text in enumerate(lines))


def _body(lab: Lab, names: Mapping[str, str]) -> Iterator[str]:
    yield from ("", "nodes:")
    for name, kind in lab.nodes.items():
        note = lab.notes.get(name, "")
        called = f'"{name}" in {lab.file}' if names[name] != name else ""
        remark = "; ".join(each for each in (called, note) if each)
        settings = {"kind": kind, **({"port": lab.ports[name]} if name in lab.ports else {})}
        text = f"  {key(names[name])}: {flow_text(settings)}"
        yield f"{text}   # {printable(remark, limit=90)}" if remark else text
    link_names = unique("-".join(names[end] for end in link["endpoints"]) for link in lab.links)
    yield from ("", "links:")
    for link, link_name in zip(lab.links, link_names, strict=True):
        ends = [names[end] for end in link["endpoints"]]
        yield from _entry(key(link_name), {**link, "endpoints": ends})
    if lab.programs:
        yield from ("", "programs:")
        taken = set(link_names)
        for name, program in lab.programs.items():
            called = unique([node_name(name, otherwise="program")], taken=taken)[0]
            taken.add(called)
            yield from _entry(key(called), {**program, "host": names[program["host"]]})
    if lab.events:
        yield from ("", "events:")
        for event in sorted(lab.events, key=lambda each: each["at_ns"]):
            rest = {name: value for name, value in event.items() if name not in ("at_ns", "link", "node")}
            links = [link_names[each] for each in event.get("link", ())]
            where = (
                {"node": [names[each] for each in event["node"]]}
                if "node" in event
                else {"link": links[0] if len(links) == 1 else links}
            )
            yield f"  - {flow_text({'at': str(Span(event['at_ns'])), **where, **rest})}"
    pair = _probe(lab)
    if pair:
        yield from ("", "traffic:")
        source, target = (key(names[each]) for each in pair)
        yield f"  probe: {{kind: ping, from: {source}, to: {target}, every: 100ms}}   # added by import"


def _probe(lab: Lab) -> tuple[str, str] | None:
    """Two hosts that a path joins, the farthest from the first that has one; no path leads through a host."""
    near: dict[str, list[str]] = {name: [] for name in lab.nodes}
    for link in lab.links:
        a, b = link["endpoints"]
        near[a].append(b)
        near[b].append(a)
    for first in (name for name, kind in lab.nodes.items() if kind == "host"):
        seen, waiting, last = {first}, deque([first]), None
        while waiting:
            here = waiting.popleft()
            if here != first and lab.nodes[here] == "host":
                last = here
                continue
            fresh = [each for each in near[here] if each not in seen]
            seen.update(fresh)
            waiting.extend(dict.fromkeys(fresh))
        if last is not None:
            return first, last
    return None


def _entry(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    short = f"  {name}: {flow_text(values)}"
    if len(short) <= _WIDTH:
        yield short
        return
    yield f"  {name}:"
    for each, value in values.items():
        yield f"    {each}: {flow_text(value)}"


def flow_text(value: Any) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{flow_text(str(name))}: {flow_text(each)}" for name, each in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    text = str(value)
    is_quantity = re.fullmatch(r"[0-9][0-9.]*(ns|us|ms|s|bit|kbit|Mbit|Gbit|Tbit|%|p)", text)
    if is_quantity or (_PLAIN_TEXT.fullmatch(text) and ": " not in text and text.lower() not in _WORDS):
        return text
    return json.dumps(text, ensure_ascii=False)


def delay_model(base_ns: int, jitter_ns: int, *, normal: bool = False) -> Any:
    """A delay of the language; jitter as netem has it: uniform, or normal, and able to reorder."""
    if not jitter_ns:
        return str(Span(base_ns))
    if normal:
        jitter = {"dist": "normal", "sd": str(Span(jitter_ns))}
    else:
        jitter = {"dist": "uniform", "half_width": str(Span(min(jitter_ns, base_ns)))}
    return {"base": str(Span(base_ns)), "jitter": jitter, "reorder": True}


def share_text(share: float) -> str:
    """A share of packets, such as ``0.5%``."""
    return str(Share.parse(f"{100 * share:.10f}".rstrip("0").rstrip(".") + "%"))


def rate_text(bits_per_s: float) -> str:
    """A rate, such as ``10Mbit``."""
    return str(Rate(round(bits_per_s)))


_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ns|us|µs|usecs?|ms|msecs?|s|secs?|m|h)?")
_FACTOR = {"n": 1, "u": 10**3, "µ": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def time_ns(text: str, *, bare: float) -> int | None:
    """Nanoseconds that ``text`` spells, as tc and Go do; a bare number counts ``bare`` ns; else ``None``."""
    found = _TIME.fullmatch(text.strip())
    if not found:
        return None
    unit = found[2] or ""
    factor: float = bare
    if unit:
        factor = _FACTOR[
            unit if unit in ("m", "h") else "ms" if unit.startswith("ms") or unit == "msec" else unit[0]
        ]
    return round(float(found[1]) * factor)


_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kKmMgGtT]?)(?:(bit|bps|b/s|bits?/s)|(Bps|B/s))?")


def rate_bits(text: str, *, bare: float) -> float | None:
    """Bit/s that ``text`` spells, such as 10Mbps; a bare number counts ``bare`` bit/s. ``None`` if none."""
    found = _RATE.fullmatch(text.strip())
    if not found:
        return None
    if not found[2] and not found[3] and not found[4]:
        return float(found[1]) * bare
    factor = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}[found[2].lower()]
    return float(found[1]) * factor * (8 if found[4] else 1)


def number(text: str) -> float | None:
    """A finite number that is not negative, else ``None``."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e18 else None


__all__ = [
    "Engine",
    "Lab",
    "UnitError",
    "delay_model",
    "flow_text",
    "made",
    "number",
    "rate_bits",
    "rate_text",
    "share_text",
    "time_ns",
]
