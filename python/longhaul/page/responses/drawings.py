"""Responses about the network of a text."""

from typing import Literal

from typing_extensions import TypedDict

from longhaul.page.responses.texts import Problem

Words = dict[str, str]
"""What stands in the file under each key, on one line."""
Place = tuple[float, float]


class Entry(TypedDict):
    """Where something stands in the file; nowhere, if a topology makes it."""

    path: list[str | int] | None
    line: int | None
    text: Words


class NamedEntry(Entry):
    """What has a key in the file, or is made by a topology."""

    name: str
    written: bool


class ListEntry(Entry):
    """What is one of a list."""

    yaml: str


class ModelNode(NamedEntry):
    """A node; ``range`` is the key of which it is one, ``spot`` its place in a topology's unit square."""

    range: str | None
    kind: Literal["host", "router", "switch"]
    function: str | None
    attach: str | None
    attach_link: str | None
    profile: str | None
    at: Place | None
    spot: Place | None
    addresses: list[str]
    congestion_control: str | None


class Way(TypedDict):
    """One direction of a link; what is ``None`` has no bound, or is decided by time."""

    delay_ns: int | None
    varies: bool
    rate_bits_per_s: int | None
    loss: float | None
    queue: str
    queue_discipline: str
    queue_bytes: int | None
    queue_packets: int | None
    queue_ns: int | None
    bdp_bytes: int | None
    routes: int
    up: bool


class LinkNumbers(TypedDict):
    """What follows from a text without errors."""

    rtt_ns: int | None
    bdp_bytes: int | None
    mtu: int | None
    forward: Way | None
    reverse: Way | None


class WaysText(TypedDict, total=False):
    """What stands in the file for one direction alone."""

    forward: Words
    reverse: Words


class ModelLink(NamedEntry, LinkNumbers):
    """A link between two nodes, or what a node's ``attach`` makes."""

    a: str
    b: str
    attachment: bool
    profile: str | None
    ways: WaysText


_Ends = TypedDict("_Ends", {"from": list[str], "to": list[str], "link": str | None, "simulated": bool})


class ModelTraffic(NamedEntry, _Ends):
    """Traffic; ``simulated`` says whether it is so in a live run, too."""

    kind: str | None


class ModelProgram(NamedEntry):
    """A program, and the hosts that run it."""

    hosts: list[str]
    run: str | None


class ModelEvent(ListEntry):
    """An event, and the links that it changes."""

    link: list[str]


class Varied(TypedDict):
    """What a sweep varies, as it stands in the file."""

    axes: Words
    repeat: str | None


class Drawing(TypedDict):
    """What stands in a text, right or wrong."""

    name: str | None
    description: str | None
    duration: str | None
    params: Words
    profiles: dict[str, Words]
    topology: Words | None
    sweep: Varied | None
    nodes: list[ModelNode]
    links: list[ModelLink]
    traffic: list[ModelTraffic]
    programs: list[ModelProgram]
    events: list[ModelEvent]
    expect: list[ListEntry]


ModelPath = TypedDict(
    "ModelPath",
    {
        "from": str,
        "to": str,
        "nodes": list[str],
        "round_trip_ns": int,
        "bottleneck": str | None,
        "bits_per_s": int | None,
    },
)
ModelPath.__doc__ = "The way from one host to another."


class Model(Drawing):
    """The same with what follows from it, which is not known while there are errors (not ``resolved``)."""

    resolved: bool
    duration_ns: int | None
    seed: int | None
    every_ns: int | None
    paths: list[ModelPath]


class Check(TypedDict):
    """Problems, errors first, and the model, unless the text is not YAML."""

    problems: list[Problem]
    model: Model | None


class Edited(TypedDict):
    """A text after edits, and the lines that these changed."""

    text: str
    changed_lines: list[int]
    check: Check
