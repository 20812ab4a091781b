"""Parts of a run's files that responses include.

The reference describes these files. The types name what the page reads of them, and let the rest through.
"""

from typing import Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

passed_on = with_config(ConfigDict(extra="allow"))


@passed_on
class RoundTrips(TypedDict):
    """Of a flow's packets."""

    p50_ns: float | None


_Ends = TypedDict("_Ends", {"from": str, "to": str})


@passed_on
class FlowResult(_Ends):
    """What came of a flow."""

    name: str
    kind: str
    cc: NotRequired[str | None]
    algorithms: NotRequired[list[str]]
    goodput_bits_per_s: float | None
    retransmits: NotRequired[int | None]
    rtt: NotRequired[RoundTrips | None]


@passed_on
class PingResult(_Ends):
    """What came of pings."""

    name: str
    sent: int
    lost: NotRequired[int]
    lost_down: NotRequired[int | None]
    loss: float | None
    rtt_min_ns: int | None
    rtt_p50_ns: int | None
    rtt_p99_ns: int | None


Bound = float | str | None


@passed_on
class Expectation(TypedDict):
    """What was expected of a metric, and whether it came so."""

    metric: str
    unit: str | None
    min: float | None
    max: float | None
    equals: Bound
    value: Bound
    met: bool
    state: NotRequired[str]
    why: str | None


@passed_on
class LinkResult(TypedDict):
    """What came of one direction of a link."""

    name: str
    way: Literal["forward", "reverse"]
    undelivered_packets: NotRequired[int]


class DropsOnLink(TypedDict):
    """Packets that one direction of a link dropped for one cause."""

    link: str
    way: Literal["forward", "reverse"]
    packets: int


class Cause(TypedDict):
    """Packets dropped for one cause; those that no link dropped are of nodes."""

    cause: str
    text: str
    packets: int
    links: list[DropsOnLink]


class Drops(TypedDict):
    """Packets that the network dropped: how many, in words, and by cause and link."""

    packets: int
    text: str
    causes: list[Cause]


class ResultWarning(TypedDict):
    """Where results contradict each other or the scenario."""

    kind: str
    name: str
    text: str


@passed_on
class Summary(TypedDict):
    """``summary.json`` of a run, but for distributions point by point; a relay knows no flows, no pings."""

    duration_ns: int | None
    flows: NotRequired[list[FlowResult]]
    probes: NotRequired[list[PingResult]]
    links: NotRequired[list[LinkResult]]
    drops: NotRequired[Drops | None]
    warnings: NotRequired[list[ResultWarning]]
    expectations: list[Expectation]


class Piece(TypedDict):
    """Some of a transfer's data, at one rate."""

    start_s: float
    finish_s: float
    bits_per_s: float


class Request(_Ends):
    """A transfer that was asked for."""

    request: str
    volume_bytes: int
    release_s: float
    deadline_s: float | None


@passed_on
class Moved(TypedDict):
    """When a transfer moves, or moved."""

    start_s: float
    finish_s: float
    pieces: list[Piece]


@passed_on
class RequestCarriedOut(Request):
    """A request, planned and achieved; ``finish_off`` is a share of the planned duration."""

    accepted: bool
    met: bool
    reason: str | None
    planned: Moved | None
    achieved: Moved | None
    finish_off: float | None


@passed_on
class CarriedOut(TypedDict):
    """``transfers.json`` of a run: what ``longhaul transfer run`` planned and achieved."""

    policy: str
    requests: list[RequestCarriedOut]


class Axis(TypedDict):
    """What a sweep varies, the column of its results that has it, and its values as they were written."""

    name: str
    column: str
    values: list[object]


@passed_on
class SweepFile(TypedDict):
    """``sweep.json``; a grid has a variant for every combination of values."""

    name: str
    design: str
    axes: list[Axis]


@passed_on
class SweepSummary(TypedDict):
    """``summary.json`` of a sweep: how many runs are done, and how many of them failed."""

    points: int
    failed: int


@passed_on
class SweepCell(TypedDict):
    """A row of ``summary.parquet``: the estimate of a metric in a variant, and a column for each axis.

    ``runs`` counts repetitions with equal results once, and ``n`` says so in words.
    """

    variant: int
    metric: str
    unit: str | None
    mean: float | None
    half_width: float | None
    runs: int
    repeats: int
    n: str
