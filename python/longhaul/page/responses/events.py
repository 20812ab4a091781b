"""Events of a run; ``event`` names the kind."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from longhaul.page.responses.runs import NetworkChange, OutcomeLine, Planned, Probe, RunRow
from longhaul.page.responses.texts import Refusal

Figures = tuple[
    Literal["throughput_bits_per_s"],
    Literal["queueing_delay_ns"],
    Literal["undelivered_packets"],
    Literal["lateness_p99_ns"],
    Literal["queue_bytes"],
]
NowFigures = tuple[
    Literal["throughput_bits_per_s"],
    Literal["utilisation"],
    Literal["queueing_delay_ns"],
    Literal["undelivered_packets"],
    Literal["lateness_p99_ns"],
]


class Hello(RunRow, Planned):
    """The beginning of a stream; ``figures`` are those of each direction of a link in a sample.

    ``now_figures`` are those of each direction in ``now``.
    """

    event: Literal["hello"]
    version: int
    figures: Figures
    now_figures: NowFigures
    probes: list[Probe]


class Building(TypedDict):
    """So many nodes of a live run are there."""

    event: Literal["building"]
    nodes: int
    of: int


class Algorithm(TypedDict):
    """The kernel has learned a congestion control until the end of a live run."""

    event: Literal["algorithm"]
    algorithm: str
    name: str


class Up(TypedDict):
    """The network of a live run is there."""

    event: Literal["up"]
    hosts: int
    cgroups: str | None
    build_ns: int


class RunStarted(TypedDict):
    """Time goes; in a live run, from when."""

    event: Literal["started"]
    t0_unix_ns: NotRequired[int]


class ProgramState(TypedDict):
    """A program of a live run began, could not begin, or ended.

    ``ending`` says how, ``failure`` why that is a failure, if it is one.
    """

    event: Literal["program"]
    name: str
    host: str
    state: Literal["started", "failed", "ended"]
    message: NotRequired[str]
    exit: NotRequired[int | None]
    signal: NotRequired[int | None]
    expect_exit: NotRequired[int | None]
    stopped_by_run: NotRequired[bool]
    ending: NotRequired[str]
    failure: NotRequired[str | None]


class Sample(TypedDict):
    """What links and pings did since the sample before, for charts.

    ``links`` has for each the figures forward and then those in reverse, ``probes`` the last round trip of
    each in ns, if a reply has come since the sample before. Both are ``None`` where only the progress of a
    simulation is reported, which is at ``t_ns``. ``lateness_p99_ns`` is the greatest of all links.
    ``real_s`` is how long a simulation has taken so far. A stream that names links has those alone.
    """

    event: Literal["sample"]
    t_ns: int
    links: list[list[float | None]] | None
    probes: list[int | None] | None
    lateness_p99_ns: float | None
    real_s: NotRequired[float]


class Now(TypedDict):
    """What stands beside each link: figures of the latest ``averaged_ns`` of the run's clock, up to ``t_ns``.

    ``links`` has for each the figures forward and then those in reverse. Labels and colours come from one
    of these.
    """

    event: Literal["now"]
    t_ns: int
    averaged_ns: int
    links: list[list[float | None]]


class ConnectionRow(TypedDict):
    """A TCP flow up to ``t_ns``: goodput, greatest RTT and retransmissions since its last row; window."""

    name: str
    t_ns: int
    goodput_bits_per_s: float | None
    rtt_ns: int | None
    cwnd_segments: int | None
    retransmits: int


class ConnectionsNow(TypedDict):
    """The fastest TCP flows that have news, twice a second."""

    event: Literal["connections"]
    rows: list[ConnectionRow]


class NetworkChanged(NetworkChange):
    """The network was changed, whoever asked for it."""

    event: Literal["change"]


class Warned(TypedDict):
    """Something to know, and what to do about it."""

    event: Literal["warning"]
    message: str
    remedy: NotRequired[str | None]


class Failure(Refusal):
    """What went wrong."""

    event: Literal["problem"]


class Ending(TypedDict):
    """Programs of a live run are asked to end."""

    event: Literal["ending"]
    reason: str


class Concluding(TypedDict):
    """The run is over, and results are made."""

    event: Literal["concluding"]
    reason: str


class Results(TypedDict):
    """Summary and series are there."""

    event: Literal["results"]
    verdict: str
    outcome: OutcomeLine


class End(TypedDict):
    """All is there, and the stream closes. A run that was killed, or began elsewhere, has no exit code."""

    event: Literal["end"]
    reason: str
    exit_code: int | None
    verdict: str | None
    outcome: OutcomeLine | None


Happening = (
    Building
    | Algorithm
    | Up
    | RunStarted
    | ProgramState
    | NetworkChanged
    | Warned
    | Failure
    | Ending
    | Concluding
    | Results
    | End
)
"""What is told once, and again to who comes later."""
Event = Hello | Sample | Now | ConnectionsNow | Happening
