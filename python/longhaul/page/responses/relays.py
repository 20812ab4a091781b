"""Responses about relays: those of the directory, how each is doing, and path maps."""

from typing import Any, Literal

from typing_extensions import TypedDict

from longhaul.page.responses.files import passed_on
from longhaul.page.responses.runs import NetworkChange, OutcomeLine, WayName
from longhaul.page.responses.texts import Problem


class RelayRow(TypedDict):
    """A relay.

    ``name`` is what ``set``, ``status`` and ``down`` call it; ``job`` what runs it, if the page started it.
    """

    run: str
    name: str
    label: str
    started_unix_s: float
    running: bool
    job: str | None
    outcome: OutcomeLine
    verdict: str | None
    verdict_text: str | None


class RelaySource(TypedDict):
    """A scenario with a section ``relay``; ``own`` if it came with Longhaul."""

    name: str
    own: bool


class RelayList(TypedDict):
    """Relays of the directory, newest first, and scenarios that relays can be started from."""

    relays: list[RelayRow]
    scenarios: list[RelaySource]


class RelayCheck(TypedDict):
    """What a relay would be.

    ``reachable`` are its listeners that other machines can reach; ``warnings`` those of the command line.
    """

    name: str
    command: str
    listeners: list[str]
    reachable: list[str]
    warnings: list[Problem]


_Ends = TypedDict("_Ends", {"from": str | None, "to": str | None})


class Listener(_Ends):
    """What connects at ``address``, from which cluster, and where a forward leads."""

    kind: str
    address: str


class RelayLinkNow(TypedDict):
    """One direction of a link: its bytes so far, and its models now."""

    name: str
    way: WayName
    offered_bytes: int
    delivered_bytes: int
    lost_pieces: int
    delay_ns: float | None
    bits_per_s: float | None
    loss: float | None
    up: bool


@passed_on
class RelayConnections(TypedDict):
    """Connections of a relay, by what became of them."""

    accepted: int
    open: int
    completed: int
    broken: int
    refused: int
    failed: int


class RelayState(RelayRow):
    """How a relay is doing, or what it did; figures are ``None`` while it starts and where it left none.

    ``fidelity`` is that of ``fidelity.json``: of a running relay, by what it has counted so far.
    """

    duration_ns: int | None
    listeners: list[Listener]
    connections: RelayConnections | None
    bytes: int | None
    pieces: int | None
    datagrams: int | None
    links: list[RelayLinkNow]
    fidelity: dict[str, Any] | None
    changes: list[NetworkChange]
    has_report: bool
    directory: str


class RelayCharts(TypedDict):
    """What a relay carried over time, for ``web/src/charts``; ``recorded``: whether it logs messages."""

    recorded: bool
    charts: list[dict[str, Any]]


class PathMapForward(TypedDict):
    """A port of a gateway that leads to a machine of another cluster."""

    listen: str
    to: str
    target: str
    cluster: str | None
    protocol: Literal["tcp", "udp"]


class PathMapPath(TypedDict):
    """The path to another cluster."""

    to: str
    links: list[str]
    one_way_ns: int
    round_trip_ns: int
    rate_bits_per_s: int | None
    gateways: list[str]


class PathMapCluster(TypedDict):
    """A cluster: its machines, how they reach the others, and settings for them.

    ``shell``, ``ssh`` and ``redirect`` are what ``longhaul relay paths`` prints with these options.
    """

    cluster: str
    site: str
    gateway: str | None
    machines: list[str]
    names: dict[str, str]
    socks: str | None
    password_file: str | None
    forwards: list[PathMapForward]
    paths: list[PathMapPath]
    shell: str
    ssh: str
    redirect: str


class PathMap(TypedDict):
    """The path map of a scenario: how its gateways are divided, and ``mpi``, settings of all machines."""

    gateways: Literal["together", "apart", "chained"]
    clusters: list[PathMapCluster]
    mpi: str
