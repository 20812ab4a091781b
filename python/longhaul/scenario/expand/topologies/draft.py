"""A draft of a scenario, with the source of each number, and its text as readable YAML."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from textwrap import wrap

from longhaul.diagnostics import printable
from longhaul.units.quantities import Span


@dataclass(frozen=True)
class NodeDraft:
    """A host or a router."""

    name: str
    kind: str
    at: tuple[float, float] | None = None
    """Latitude and longitude in degrees."""
    attach: str | None = None
    """The router that a host hangs on, by profile ``lan``."""
    note: str = ""


@dataclass(frozen=True)
class LinkDraft:
    """A link; what it does to packets is written as the scenario language has it."""

    name: str
    ends: tuple[str, str]
    settings: tuple[tuple[str, str], ...]
    """Keys and values, such as ``("delay", "38ms")``."""
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A line of another section: a key, its value as the language has it, and a comment."""

    key: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Draft:
    """A whole scenario, to be written by :func:`longhaul.scenario.expand.topologies.draft.written`."""

    name: str
    about: tuple[str, ...]
    """Paragraphs for the top of the file."""
    nodes: tuple[NodeDraft, ...]
    links: tuple[LinkDraft, ...]
    profiles: tuple[Line, ...] = ()
    traffic: tuple[Line, ...] = ()
    expect: tuple[Line, ...] = ()
    """Keys are not used."""
    duration: Span = field(default_factory=lambda: Span(10 * 10**9))
    warnings: tuple[str, ...] = ()
    """What the user is told when it is made; also written at the top."""


_WIDTH = 110
_PLAIN = re.compile(r"[a-z][a-z0-9-]*(\.\.[0-9]+[a-z0-9-]*)*")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
"""Names that some readers of YAML take for something else."""


def written(draft: Draft) -> str:
    """The scenario file of ``draft``."""
    return "\n".join(_lines(draft)) + "\n"


def key(name: str) -> str:
    """``name`` as a key or value of YAML: in quotes where it could be read as something else."""
    return name if _PLAIN.fullmatch(name) and name not in _WORDS else f'"{name}"'


def _lines(draft: Draft) -> Iterator[str]:
    first, *others = (*draft.about, *(f"Warning: {each}" for each in draft.warnings))
    yield from comment(first)
    for paragraph in others:
        yield "#"
        yield from comment(paragraph)
    yield from ("version: 1", f"name: {draft.name}", "seed: 1", f"duration: {draft.duration}")
    if draft.profiles:
        yield from ("", "profiles:")
        yield from _aligned((f"  {line.key}: {line.value}", line.note) for line in draft.profiles)
    yield from ("", "nodes:")
    yield from _aligned((_node(node), node.note) for node in draft.nodes)
    yield from ("", "links:")
    for link in draft.links:
        yield from _link(link)
    if draft.traffic:
        yield from ("", "traffic:")
        yield from _aligned((f"  {key(line.key)}: {line.value}", line.note) for line in draft.traffic)
    if draft.expect:
        yield from ("", "expect:")
        yield from _aligned((f"  - {line.value}", line.note) for line in draft.expect)


def _node(node: NodeDraft) -> str:
    content = f"kind: {node.kind}"
    if node.attach:
        content += f", attach: {key(node.attach)}, profile: lan"
    if node.at:
        content += f", at: [{node.at[0]:.10g}, {node.at[1]:.10g}]"
    return f"  {key(node.name)}: {{{content}}}"


def _link(link: LinkDraft) -> Iterator[str]:
    endpoints = f"[{key(link.ends[0])}, {key(link.ends[1])}]"
    yield from (f"  {line}" for line in comment(link.note))
    content = ", ".join(f"{name}: {value}" for name, value in (("endpoints", endpoints), *link.settings))
    short = f"  {key(link.name)}: {{{content}}}"
    if len(short) <= _WIDTH:
        yield short
        return
    yield f"  {key(link.name)}:"
    yield f"    endpoints: {endpoints}"
    for name, value in link.settings:
        yield f"    {name}: {value}"


def _aligned(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Lines with their notes behind them, in one column where most of them fit."""
    pairs = list(lines)
    column = max((len(text) for text, note in pairs if note and len(text) < 64), default=0)
    for text, note in pairs:
        yield f"{text:<{column}}   # {printable(note, limit=_WIDTH)}" if note else text


def comment(text: str) -> list[str]:
    """``text`` as lines of a comment, whatever characters are in it."""
    shown = printable(text, limit=4000)
    return [f"# {line}" for line in wrap(shown, _WIDTH - 2, break_on_hyphens=False, break_long_words=False)]
