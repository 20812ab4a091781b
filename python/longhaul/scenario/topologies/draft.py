"""A scenario that is being drawn up, with where each of its numbers came from."""

from dataclasses import dataclass, field

from longhaul.scenario.units import Span


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
    laws: tuple[tuple[str, str], ...]
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
    """A whole scenario, to be written by :func:`longhaul.scenario.topologies.writing.written`."""

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
