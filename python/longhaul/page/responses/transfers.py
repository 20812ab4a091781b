"""Responses about bulk transfers: their requests, plans and progress."""

from typing import Any

from typing_extensions import TypedDict

from longhaul.page.responses.files import Piece, Request
from longhaul.page.responses.texts import FileEntry, Problem


class Policy(TypedDict):
    """How transfers can be planned."""

    name: str
    about: str
    wants: list[str]
    """Which of ``f`` and ``window`` it takes."""


class Policies(TypedDict):
    """All of them."""

    policies: list[Policy]


class RequestPlanned(Request):
    """A request, and what it gets."""

    satisfied: bool
    reason: str | None
    start_s: float | None
    finish_s: float | None
    bits_per_s: float | None
    pieces: list[Piece]


class PlannedLink(TypedDict):
    """A link that transfers share, and the most that they ask of it."""

    link: str
    bits_per_s: float
    peak_bits_per_s: float


class TransferPlan(TypedDict):
    """A plan of transfers; ``measures`` are numbers, and ``bottleneck`` names a link.

    ``charts``: when requests move, and the load of links, for ``web/src/charts``.
    """

    policy: str
    measures: dict[str, float | str | None]
    congestion: float | None
    requests: list[RequestPlanned]
    links: list[PlannedLink]
    charts: list[dict[str, Any]]


class RequestCell(TypedDict):
    """A request as it is written: the text of each column, empty where nothing is."""

    name: str
    line: int
    cells: dict[str, str]


class RequestsRead(TypedDict):
    """A file of requests as a table; ``ends`` are the names that ``from`` and ``to`` can have."""

    text: str
    rows: list[RequestCell]
    ends: list[str]
    problems: list[Problem]


class ExampleRequests(TypedDict):
    """Requests that came with Longhaul, and the scenario that they are for."""

    name: str
    text: str
    scenario_name: str
    scenario: str


class RequestFiles(TypedDict):
    """Files of requests in the directory, and examples."""

    files: list[FileEntry]
    examples: list[ExampleRequests]


class TransferProgress(TypedDict):
    """How many requests are over, how much has arrived, and how long the rest will take, as text."""

    over: int
    requests: int
    moved_bytes: int
    volume_bytes: int
    left_text: str


class TransferRun(TypedDict):
    """Transfers that are carried out; ``progress`` is ``None`` but for a run that this server started."""

    progress: TransferProgress | None
