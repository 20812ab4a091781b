"""The bodies of requests: what a client may send, and what it is told where it sends something else."""

from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails, from_json

from longhaul.diagnostics import Code, printable
from longhaul.page.refusals import RefusedError
from longhaul.run.shards import MOST_SHARDS

Text = Annotated[str, Field(max_length=1 << 20)]
"""A file, in characters."""
Name = Annotated[str, Field(max_length=200)]
Mode = Literal["live", "sim"]
Clock = Literal["real", "virtual"]
Shards = Annotated[int, Field(ge=1, le=MOST_SHARDS)] | Literal["auto"]
Step = Annotated[str | int, Field(union_mode="left_to_right")]


class Body(BaseModel):
    """An object with no other keys than those that are named, and without conversion of types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class ScenarioText(Body):
    """The text of a scenario."""

    text: Text
    settings: dict[Name, Text] = {}
    """Values of parameters and keys, as ``--set`` takes them."""
    base: Name | None = None
    """``scenario:NAME`` where files lie beside one of Longhaul's own; else they lie in the directory."""


class PreflightText(ScenarioText):
    """What is about to run."""

    mode: Mode = "live"
    clock: Clock = "real"
    kernel: Name | None = None


class MachineCell(Body):
    """An edit of the table of machines: ``set`` of a column, ``add`` and ``remove`` of a link's machine."""

    op: Literal["set", "add", "remove"]
    machine: Name
    column: Literal["address", "user", "device"] = "address"
    link: Name = ""
    """Of a device."""
    text: Name = ""


class ExportWish(ScenarioText):
    """A scenario that is to be exported, and how."""

    kind: Literal["tc", "shell", "ansible", "containerlab", "compose"] = "shell"
    machines: Text = ""
    """The file that maps nodes and links to machines; empty: each node is one."""
    style: Literal["longhaul", "ewan"] = "longhaul"
    hz: Annotated[int, Field(ge=24, le=10_000)] = 250
    """CONFIG_HZ of the machines' kernels."""
    line_rate: Name = "10Gbit"
    """Of the machines' interfaces."""
    image: Name | None = None
    """Of the containers of containerlab."""


class MachinesText(ScenarioText):
    """The mapping of a scenario to machines, after edits."""

    machines: Text = ""
    edits: Annotated[list[MachineCell], Field(max_length=1_000)] = []


class MachineCheck(Body):
    """What is to be checked of this machine."""

    text: Text | None = None
    """A scenario that is to run here, if there is one."""
    settings: dict[Name, Text] = {}
    base: Name | None = None
    self_test: bool = True
    """Whether two hosts are brought up, for a ping and for each MPI."""


class CalibrationStart(Body):
    """A calibration that is to start."""


class Source(Body):
    """A scenario that is to run: its text, or the name of its file."""

    text: Text | None = None
    file: Name | None = None
    """With ``text``: what errors call it."""
    settings: dict[Name, Text] = {}
    base: Name | None = None


class RunStart(Source):
    """A run that is to start."""

    mode: Mode = "live"
    seed: Annotated[int, Field(ge=0, le=2**64 - 1)] | None = None
    clock: Clock = "real"
    """Of a live run; ``virtual``: each host runs a Linux of its own, and needs a guest kernel."""
    kernel: Name | None = None
    """Of the virtual clock: its name or version; ``None`` for the scenario's, or the newest."""
    shards: Shards | None = None
    """Parts of the network that run in parallel; ``None`` for what the command line takes by default."""


class ShardsOf(ScenarioText):
    """A scenario whose network is to be divided into shards."""

    mode: Mode = "sim"
    """``sim``: shards of a simulation; ``live``: engine threads of a live run."""
    shards: Shards = "auto"


class KernelBuild(Body):
    """A build of a guest kernel that is to start."""


class SweepStart(Source):
    """A sweep that is to start."""


class Place(Body):
    """Where in a scenario an edit is."""

    path: Annotated[list[Step], Field(max_length=30)]
    """Keys, and positions in lists."""


class WriteEdit(Place):
    """``set`` writes a value, ``add`` does so where nothing is yet."""

    op: Literal["set", "add"]
    value: JsonValue = None
    text: Text | None = None
    """Instead of ``value``: as one types it in YAML."""


class RenameEdit(Place):
    """``rename`` gives a key another name, ``split`` makes an entry of one member of a range."""

    op: Literal["rename", "split"]
    value: Name


class RemoveEdit(Place):
    """``remove`` takes something out."""

    op: Literal["remove"]
    references: bool = False
    """Also what cannot be without it."""


EditBody = Annotated[WriteEdit | RenameEdit | RemoveEdit, Field(discriminator="op")]


class EditsOfText(ScenarioText):
    """Edits of a text, all or none of which are made."""

    edits: Annotated[list[EditBody], Field(max_length=1_000)]


class QuantityText(Body):
    """A quantity as one types it."""

    kind: Literal["delay", "rate", "loss", "size", "queue"]
    text: Name


Latitude = Annotated[float, Field(ge=-90, le=90, strict=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, strict=False)]
Coordinates = Annotated[tuple[Latitude, Longitude], Field(strict=False)]
"""Latitude and longitude in degrees."""


class FibreEnds(Body):
    """Two places that fibre joins."""

    one: Coordinates
    other: Coordinates
    route_factor: Annotated[float, Field(ge=1, le=10, strict=False)] | None = None
    """Length of the fibre over the great circle; ``None`` for the rule of ITU-T Y.1541."""


class FibrePairs(Body):
    """Pairs of places whose fibre is wanted."""

    pairs: Annotated[list[FibreEnds], Field(max_length=1_000)]


class FileSave(Body):
    """What a file is to contain."""

    text: Text
    etag: Name | None = None
    """That of what it contains now; ``None`` for a new file."""


class CaptureStart(Body):
    """A link of a live run whose packets are to be captured."""

    link: Name
    snaplen_bytes: Annotated[int, Field(ge=20, le=65_535)] = 256
    """Kept of each packet."""


class LinkChange(Body):
    """A change of a link of a live run."""

    link: Name
    way: Literal["forward", "reverse"] | None = None
    """``None`` for both."""
    changes: Annotated[dict[Name, Name | bool], Field(min_length=1)]
    """Settings and their values; ``up`` is true or false."""


class ImpairmentStart(Body):
    """An impairment that is to be applied to a link of a live run."""

    link: Name
    way: Literal["forward", "reverse"] | None = None
    """``None`` for both."""
    preset: Name


class TerminalStart(Body):
    """A shell that is to start."""

    host: Name


class TerminalMessage(Body):
    """What a tab says to the terminal that it shows: one or more of these."""

    input: Annotated[str, Field(max_length=1 << 16)] | None = None
    """What was typed or pasted."""
    columns: Annotated[int, Field(ge=2, le=1_000)] | None = None
    """With ``rows``: the size of the terminal in the tab."""
    rows: Annotated[int, Field(ge=1, le=1_000)] | None = None
    drawn: Annotated[int, Field(ge=0, le=2**53)] | None = None
    """Bytes of output that were drawn since the latest message from the tab."""


class AnnotationsSave(Body):
    """New annotations of a run or a sweep."""

    title: Name = ""
    tags: Annotated[list[Name], Field(max_length=100)] = []
    note: Text = ""
    etag: Name
    """That of the annotations that are replaced."""


class RunArchive(Body):
    """Runs to archive in one file."""

    runs: Annotated[list[Name], Field(min_length=1, max_length=500)]


class RunComparison(Body):
    """Runs that are to be compared; those of a list repeat each other."""

    runs: Annotated[
        list[Name | Annotated[list[Name], Field(min_length=1, max_length=1_000)]],
        Field(min_length=2, max_length=50),
    ]
    metrics: Annotated[list[Name], Field(max_length=100)] = []
    """Patterns of names; all metrics if there are none."""
    grouped: bool = False
    """Whether runs that differ in nothing but the seed are one side."""
    charts: bool = True
    """Whether charts are wanted."""


class RequestCells(Body):
    """An edit of a table of requests: ``set`` is of a column, ``add`` and ``remove`` of a whole request."""

    op: Literal["set", "add", "remove"]
    request: Name
    column: Name = ""
    """Of ``set``: ``name``, ``from``, ``to``, ``volume``, ``release``, ``deadline`` or ``max_rate``."""
    text: Name = ""
    """Of ``set``: what the column is to say; nothing where an optional value is to go."""
    cells: dict[Name, Name] = {}
    """Of ``add``: the values of the new request."""


class RequestsText(Body):
    """A file of requests for bulk transfers."""

    text: Text
    format: Literal["yaml", "csv"] = "yaml"
    scenario: Text | None = None
    """The text of the scenario whose network they use."""
    base: Name | None = None
    """Of the scenario, as of any text of a scenario."""


class RequestsTable(RequestsText):
    """Requests that are wanted as a table, after edits."""

    edits: Annotated[list[RequestCells], Field(max_length=1_000)] = []


class TransferRequests(RequestsText):
    """Bulk transfers that are to be planned."""

    policy: Name
    capacity: Name | None = None
    """Rate of each access link, where the text says none."""
    f: float | None = None
    """Of the policies that want it: the share of the greatest rate."""
    window: Name | None = None
    """Of the policies that want it: the time in which requests are collected, such as ``60s``."""


class TraceChange(Body):
    """An edit of a trace: ``cut`` keeps a span, ``scale`` and ``shift`` a column, ``set`` one value of it."""

    op: Literal["cut", "scale", "shift", "set"]
    column: Name = ""
    """Of all but ``cut``: ``rtt_ms``, ``delay_ms`` or ``rate_mbit``."""
    value: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """Factor, summand or new value, in the unit of the column; ``null`` sets a gap."""
    from_s: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """Begin of the span, or the time of the value."""
    to_s: Annotated[float, Field(allow_inf_nan=False)] | None = None


class TraceWish(Body):
    """A trace that is wanted, after edits."""

    name: Name
    """A file of the directory, or a built-in trace."""
    link: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    """Its two ends, in a file with several links; the first link if left out."""
    edits: Annotated[list[TraceChange], Field(max_length=1_000)] = []


class TraceSave(TraceWish):
    """A trace that is to be written as a new file, after edits."""


class TraceCollection(Body):
    """A trace that is to be measured, to another host."""

    to: Annotated[str, Field(pattern=r"^[A-Za-z0-9\[\]:._-]{1,300}$")]
    """HOST:PORT at which ``longhaul trace collect --serve`` runs."""
    name: Name
    """The new CSV file."""
    style: Literal["nws", "eventspace", "ping", "sockets"] = "nws"
    """How it is measured."""
    duration: Annotated[str, Field(max_length=30)] = "1min"
    """How long, with its unit."""
    period: Annotated[str, Field(max_length=30)] | None = None
    """From one probe to the next, with its unit; the style's own if left out."""
    both: bool = False
    """Both directions, in turn."""


class RelayLink(Body):
    """A relay of one link, in place of a scenario."""

    delay: Name | None = None
    """One way, in each direction."""
    rate: Name | None = None
    loss: Name | None = None
    jitter: Name | None = None
    """Standard deviation of the delay."""
    forwards: Annotated[list[Name], Field(max_length=100)] = []
    """``LISTEN=TARGET``, as ``--forward`` takes them."""
    socks: Name | None = None
    """``ADDRESS:PORT`` of a SOCKS 5 proxy."""
    password_file: Name | None = None
    """A file of the directory, whose first line is the password of SOCKS clients."""
    allow: Annotated[list[Name], Field(max_length=100)] = []
    """Networks that SOCKS may reach; all if there are none."""


class RelayWish(Body):
    """A relay that is wanted: of a scenario in a file, of one of Longhaul's own, or of one link."""

    file: Name | None = None
    scenario: Name | None = None
    link: RelayLink | None = None
    settings: dict[Name, Text] = {}
    gateway: Name | None = None
    """The cluster whose gateway this is, where gateways are apart or chained."""
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")] | None = None
    """What ``set``, ``status`` and ``down`` call it; the scenario's name if left out."""
    duration: Annotated[str, Field(max_length=30)] | None = None
    """After which it ends, with its unit; it relays until it is stopped if left out."""
    messages: bool = True
    """Whether each message is recorded."""
    seed: Annotated[int, Field(ge=0, le=2**64 - 1)] | None = None


class RelayStart(RelayWish):
    """A relay that is to start."""

    reachable: bool = False
    """Whether it may listen at addresses that other machines can reach."""


class PathMapWish(ScenarioText):
    """A scenario whose path map is wanted."""

    ports: Annotated[str, Field(pattern=r"^[0-9]{1,5}-[0-9]{1,5}$")] = "20000-20999"
    """Of MPI, which are redirected."""


class StudyStart(Body):
    """A study that is to run."""

    only: Annotated[list[Name], Field(max_length=100)] = []
    """Parts, or ``live``, ``virtual``, ``simulated``, ``arithmetic``; all if there are none."""
    rounds: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Repetitions, instead of each part's own number."""
    small: bool = False
    """A small size, to try it out."""
    resume: bool = False
    """Keep what this commit has measured before an interruption."""


class TransferStart(RequestsText):
    """Bulk transfers that are to be carried out on the network of a scenario."""

    policy: Name
    f: float | None = None
    window: Name | None = None
    mode: Mode = "live"
    settings: dict[Name, Text] = {}
    seed: Annotated[int, Field(ge=0, le=2**64 - 1)] | None = None
    margin: Annotated[float, Field(ge=0, le=0.5)] = 0.02
    """Share of the window, besides one RTT, that plans keep free before the deadline."""
    attempts: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Most attempts to start a transfer."""
    program: Name = "paced"
    """What moves the data of a live run: ``paced``, ``iperf3``, ``rsync`` or ``rclone``."""
    pacing: Literal["kernel", "user"] = "kernel"
    """Who paces our own sender."""
    requests_file: Name | None = None
    """What errors call the requests."""
    scenario_file: Name | None = None
    """What errors call the scenario."""


Wanted = TypeVar("Wanted", bound=Body)

_SAYS = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_type": "must be text",
    "string_too_long": "has more than {max_length} characters",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "too_short": "has fewer than {min_length} entries",
    "too_long": "has more than {max_length} entries",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": "must be {expected}",
    "union_tag_invalid": "must be {expected_tags}",
    "union_tag_not_found": "has no {discriminator}",
}
"""What pydantic's types of errors mean."""


def read_body(content: bytes, wanted: type[Wanted]) -> Wanted:
    """``content``, which is JSON, as a ``wanted``.

    Raises ``RefusedError`` for the first key that is wrong: status 413 if its text is too long, else 400.
    """
    try:
        return wanted.model_validate_json(content or b"{}")
    except ValidationError as error:
        found = error.errors(include_url=False)
    first = found[0]
    if first["type"] == "json_invalid":
        reason = str(first["ctx"]["error"])
        remedy = "a lone surrogate (half of a character) is not text" if "hex escape" in reason else None
        raise RefusedError(Code.PAGE_REQUEST, 400, f"the body is not JSON: {reason}", remedy=remedy)
    sent = from_json(content or b"{}")
    place = _place(sent, first)
    # A value that may be of two types is wrong for both.
    reasons = dict.fromkeys(_reason(each) for each in found if _place(sent, each) == place)
    name = f'"{printable(place)}"' if place else "the body"
    status = 413 if first["type"] == "string_too_long" else 400
    message = f"{name} {', or '.join(reasons)}"
    raise RefusedError(Code.PAGE_REQUEST, status, message, remedy=_known(first, wanted))


def _reason(error: ErrorDetails) -> str:
    says = _SAYS.get(error["type"])
    return says.format(**error.get("ctx", {})).replace("'", "") if says else error["msg"]


def _place(sent: Any, error: ErrorDetails) -> str:
    """The keys that lead to what is wrong, without the names of types that pydantic has between them."""
    steps: list[str] = []
    for step in error["loc"]:
        with suppress(KeyError, TypeError):
            sent = sent[step]
            steps.append(str(step))
    if error["type"] == "missing":
        steps.append(str(error["loc"][-1]))
    return ".".join(steps)


def _known(error: ErrorDetails, wanted: type[Body]) -> str | None:
    if error["type"] != "extra_forbidden" or len(error["loc"]) > 1:
        return None
    return f"send {', '.join(wanted.model_fields)}"
