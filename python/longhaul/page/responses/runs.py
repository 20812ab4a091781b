"""Responses about runs: their list, and the contents of each."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from longhaul.page.responses.drawings import ModelLink, ModelNode
from longhaul.page.responses.files import CarriedOut, Summary
from longhaul.page.responses.shards import DividedRun

WayName = Literal["forward", "reverse"]


class Deleted(TypedDict):
    """A run in the trash."""

    id: str
    label: str


class Begun(TypedDict):
    """What was started."""

    id: str
    directory: str


State = Literal["passed", "failed", "interrupted", "crashed", "running"]


class OutcomeLine(TypedDict):
    """How a run ended, in a line: ``detail`` is what to say behind the state."""

    state: State
    detail: str


class FailureRow(TypedDict):
    """One thing that failed in a run; ``text`` says all of it, ``lines`` are the last of its ``log``."""

    kind: str
    name: str
    host: str | None
    reason: str
    text: str
    log: str | None
    lines: list[str]


class ModelDifference(TypedDict):
    """A model of a link, before and after a change."""

    key: str
    old: str
    new: str


class NetworkChange(TypedDict):
    """A change that a run applied: by an event of its scenario, or an intervention of a user.

    ``way`` and ``route`` (from 1) are ``None`` where all changed; ``until_ns`` is later than ``at_ns`` for a
    gradual one. ``text`` says all of it, ``source`` who asked for it.
    """

    kind: Literal["event", "intervention"]
    at_ns: int
    until_ns: int
    link: str
    way: Literal["forward", "reverse"] | None
    route: int | None
    host: str | None
    by: str
    user: str | None
    words: list[str]
    position: int | None
    differences: list[ModelDifference]
    text: str
    source: str


class Annotated(TypedDict):
    """What people say of a run; an empty ``title`` stands for its name. ``etag`` tells two contents apart."""

    title: str
    tags: list[str]
    note: str
    etag: str


class RunRow(TypedDict):
    """A run; ``made_by_page`` says whether this server started it.

    ``verdict_text`` is the verdict and what it holds of, as ``faithful, with 2 interventions``. ``label`` is
    the title, or the name and ``differs``: what tells the run from others of its name.
    ``parameters`` are all that differ among them, its algorithms and its seed, ``metrics`` those of ``Runs``.
    """

    id: str
    name: str
    label: str
    differs: str
    parameters: dict[str, str]
    metrics: dict[str, float | None]
    annotations: Annotated
    mode: str
    status: str
    started_unix_s: float
    seed: int
    argv: list[str]
    directory: str
    has_report: bool
    outcome: OutcomeLine
    verdict: str | None
    verdict_text: str | None
    hosts: str | None
    duration_s: float | None
    expectations_met: bool | None
    made_by_page: bool


class RunProgram(TypedDict):
    """A program of a run; a service ends with the others."""

    name: str
    host: str
    service: bool


class EndedProgram(TypedDict):
    """How a program of a run ended; ``failure`` is why that is a failure, if it is one."""

    name: str
    host: str
    ending: str
    failure: str | None


class Planned(TypedDict):
    """What a run's plan names; links in the order in which samples have them. A relay has none of it."""

    duration_ns: int | None
    every_ns: int | None
    links: list[str]
    ends: list[list[str]]
    programs: list[RunProgram]


Probe = TypedDict("Probe", {"name": str, "program": str, "from": str, "to": str, "every_ns": int | None})
Probe.__doc__ = "Pings that are measured, the program that sends them, and how long after one comes the next."


class RunDetails(RunRow, Planned):
    """All about a run; what comes of it is ``None`` until it is over.

    ``averages`` has for each link what ``now`` has, over the whole run: throughput, utilisation, mean
    queueing delay, packets that ended otherwise than delivered, and the 99th percentile of lateness.
    ``clock`` says what the virtual or the simulated clock took, and the digest of equal runs; ``divided``
    is of a run in several shards, engine threads or machines. ``transfer_charts`` show ``transfers``, for
    ``web/src/charts``.
    """

    run: dict[str, Any]
    clock: str | None
    divided: DividedRun | None
    failures: list[FailureRow]
    ended_programs: list[EndedProgram]
    changes: list[NetworkChange]
    summary: Summary | None
    averages: list[list[float | None]] | None
    fidelity: dict[str, Any] | None
    transfers: CarriedOut | None
    transfer_charts: list[dict[str, Any]]
    probes: list[Probe]
    logs: list[str]
    files: list[str]
    tables: list[str]
    scenario: str


class RunNetwork(TypedDict):
    """The network of a run as it was when the run began, to be drawn; and its scenario, byte for byte.

    Links are in the order of samples. Nothing in it has a place in the text.
    """

    scenario: str
    nodes: list[ModelNode]
    links: list[ModelLink]


class Changed(TypedDict):
    """When a change took effect, from the start of the run."""

    at_s: float


class Ticket(TypedDict):
    """Where a report can be opened, once."""

    url: str


class Log(TypedDict):
    """The end of what a program wrote, and how much it wrote in all."""

    program: str
    text: str
    bytes: int


class Over(TypedDict):
    """Columns over time; what is not known at a time is ``None``."""

    t_ns: list[int]
    columns: dict[str, list[float | None]]


class LinkSeries(Over):
    """Of one direction of a link."""

    link: str
    way: WayName


_Ends = TypedDict("_Ends", {"from": str, "to": str})


class ProbeSeries(Over, _Ends):
    """Of pings."""

    name: str


_FlowEnds = TypedDict("_FlowEnds", {"from": NotRequired[str], "to": NotRequired[str]})


class FlowSeries(Over, _FlowEnds):
    """Of a stream of a flow, which has a name alone while it goes on."""

    name: str
    flow: NotRequired[str]
    stream: int | str | None


class SocketSeries(Over):
    """Of a TCP connection; ``to`` is the host at its other end, if it is one of the network."""

    host: str
    local: str
    remote: str
    cc: str | None
    socket: str
    to: str | None


class LinksOverTime(TypedDict):
    """What links did."""

    table: Literal["links"]
    series: list[LinkSeries]


class ProbesOverTime(TypedDict):
    """Round trips of pings."""

    table: Literal["probes"]
    series: list[ProbeSeries]


class FlowsOverTime(TypedDict):
    """What flows achieved."""

    table: Literal["flows"]
    series: list[FlowSeries]


class SocketsOverTime(TypedDict):
    """What the kernel said of TCP connections."""

    table: Literal["sockets"]
    series: list[SocketSeries]


class LatenessOverTime(TypedDict):
    """The 99th percentile of lateness in the direction where it was greatest."""

    table: Literal["lateness"]
    series: list[Over]


class ConnectionSeries(Over):
    """Of a TCP flow, simulated or real."""

    name: str


class ConnectionsOverTime(TypedDict):
    """Goodput, RTT, window and retransmissions of the TCP flows that carried most, the first ahead."""

    table: Literal["connections"]
    series: list[ConnectionSeries]


OverTime = (
    LinksOverTime | LatenessOverTime | ProbesOverTime | FlowsOverTime | SocketsOverTime | ConnectionsOverTime
)


class Packet(TypedDict):
    """A packet on a link; one that never left has no due time."""

    way: WayName
    offered_ns: int
    due_ns: int | None
    bytes: int
    fate: str
    flow: str | None


class Recording(TypedDict):
    """What is recorded of packets on one direction of a link."""

    link: str
    way: WayName
    packets: int
    first_ns: int
    last_ns: int


class Packets(TypedDict):
    """Packets of a link; recorded are those in the first ``window_ns`` of each ``every_ns``, or all.

    ``missing`` says what of the time that was asked for nobody recorded: this link at all, this time, or a
    part of it.
    """

    packets: list[Packet]
    recorded: list[Recording]
    missing: Literal["link", "time", "part"] | None
    truncated: bool
    window_ns: int | None
    every_ns: int
