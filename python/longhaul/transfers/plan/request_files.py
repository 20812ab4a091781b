"""Requests from YAML and CSV; problems have file, line and column."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from longhaul.diagnostics import Code, Span, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.csv_row import RowError, cells_of
from longhaul.scenario.syntax.problems import LINE_BREAK, ScenarioError, did_you_mean
from longhaul.scenario.syntax.yaml_tree import (
    MAX_BYTES,
    Branch,
    Leaf,
    Node,
    Path,
    Source,
    follow,
    read_file,
    read_tree,
)
from longhaul.transfers.plan.instances import (
    Instance,
    Network,
    Point,
    Request,
    access_points,
    instance,
    unreachable,
)
from longhaul.transfers.plan.request_schema import RequestDocument
from longhaul.units.text import count_text

COLUMNS = ("name", "from", "to", "volume", "release", "deadline", "max_rate")
NEEDED = ("from", "to", "volume")


@dataclass(frozen=True)
class RequestFile:
    """Requests as written, and where."""

    source: Source
    tree: Branch
    points: dict[str, Point]
    """Access points that the file itself gives; empty without."""
    requests: tuple[Request, ...]


def read_requests(path: FilePath) -> RequestFile:
    """The requests in file ``path``, CSV by its name or else YAML; raises :class:`ScenarioError`."""
    content = read_file(path)
    return parse_requests(content, name=str(path))


def parse_requests(content: bytes, *, name: str) -> RequestFile:
    """The requests in ``content``, which errors call ``name``; raises :class:`ScenarioError`."""
    source, tree = request_tree(content, name=name)
    document, problems = validate(source, tree, RequestDocument)
    if document is None:
        raise ScenarioError(problems)
    points = {
        each: Point(setting.into.bits_per_s, setting.out.bits_per_s)
        for each, setting in document.points.items()
    }
    requests = tuple(
        Request(
            name=each,
            source=setting.source,
            destination=setting.destination,
            volume_bytes=setting.volume.bytes,
            release_s=setting.release.ns / 1e9,
            deadline_s=setting.deadline.ns / 1e9 if setting.deadline else math.inf,
            max_bits_per_s=setting.max_rate.bits_per_s if setting.max_rate else math.inf,
        )
        for each, setting in document.requests.items()
    )
    return RequestFile(source, tree, points, requests)


def request_tree(content: bytes, *, name: str) -> tuple[Source, Branch]:
    """``content``, CSV by its ``name`` or else YAML, as the tree of a YAML file.

    Raises :class:`ScenarioError`.
    """
    return (_csv_tree if name.lower().endswith(".csv") else read_tree)(name, content)


def placed(file: RequestFile, *, network: Network | None, capacity_bits_per_s: int | None) -> Instance:
    """The requests of ``file`` on ``network``, on its own access points, or on such of one capacity.

    Raises :class:`ScenarioError` with the place of every request that cannot go there.
    """
    given = [network is not None, bool(file.points), capacity_bits_per_s is not None]
    if sum(given) != 1:
        message = f"{file.source.name}: {'several networks are' if any(given) else 'no network is'} given"
        remedy = "give one of points: in the file, --scenario and --capacity"
        raise LonghaulError(Code.REQUEST_NETWORK, message, remedy=remedy, exit_code=2)
    if capacity_bits_per_s is not None:
        ends = dict.fromkeys(end for each in file.requests for end in (each.source, each.destination))
        network = access_points(dict.fromkeys(ends, Point(capacity_bits_per_s, capacity_bits_per_s)))
    elif network is None:
        network = access_points(file.points)
    problems = []
    for request in file.requests:
        wrong = unreachable(request, network)
        if wrong is not None:
            end, message, remedy = wrong
            path: Path = ("requests", request.name, end)
            _place, node, _walked = follow(file.tree, path)
            problems.append(file.source.problem(Code.REQUEST_NETWORK, node.place, path, message, remedy))
    if problems:
        raise ScenarioError(problems)
    return instance(file.requests, network=network)


def _csv_tree(name: str, content: bytes) -> tuple[Source, Branch]:
    """CSV as the tree of a YAML file with the same requests; empty cells are keys left out."""
    if len(content) > MAX_BYTES:
        raise LonghaulError(
            Code.FILE_TOO_LARGE, f"{name} is larger than {MAX_BYTES} bytes", remedy="split it", exit_code=2
        )
    try:
        lines = tuple(LINE_BREAK.split(content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise LonghaulError(
            Code.NOT_TEXT, f"{name} is not UTF-8", remedy="save it as UTF-8", exit_code=2
        ) from None
    source = Source(name, content, lines)
    rows = [
        (number, _cells(source, number, line)) for number, line in enumerate(lines, start=1) if line.strip()
    ]
    if len(rows) < 2:
        remedy = f"write a header ({','.join(COLUMNS)}) and a line for each request"
        raise ScenarioError([source.problem(Code.EMPTY_FILE, Span(1, 1), (), "has no requests", remedy)])
    header = _header(source, *rows[0])
    problems = []
    requests: dict[str, tuple[Span, Node]] = {}
    for number, cells in rows[1:]:
        if len(cells) != len(header):
            message = f"has {count_text(len(cells), 'value')}, and the header {len(header)}"
            problems.append(
                source.problem(Code.ROW_MALFORMED, Span(number, 1), (), message, "write one for each column")
            )
            continue
        entries = {
            column: (cell.place, cell) for column, cell in zip(header, cells, strict=True) if cell.text
        }
        key = entries.pop("name", None)
        called = str(key[1].value) if key else f"r{len(requests) + 1}"
        if called in requests:
            message = f'"{printable(called)}" is given twice, first in line {requests[called][0].line}'
            problems.append(
                source.problem(Code.NAME_DUPLICATE, Span(number, 1), (), message, "rename one of them")
            )
        place = key[0] if key else Span(number, 1)
        requests[called] = (place, Branch(place, dict(entries)))
    if problems:
        raise ScenarioError(problems)
    top = Span(1, 1)
    return source, Branch(
        top, {"version": (top, Leaf(1, "1", top)), "requests": (top, Branch(top, requests))}
    )


def _header(source: Source, number: int, cells: Sequence[Leaf]) -> list[str]:
    names = [cell.text for cell in cells]
    problems = [
        source.problem(
            Code.COLUMN_UNKNOWN,
            cell.place,
            (),
            f'there is no column "{printable(cell.text)}"',
            _column(cell.text),
        )
        for cell in cells
        if cell.text not in COLUMNS
    ]
    if not problems:
        missing = [each for each in NEEDED if each not in names]
        twice = [each for each in COLUMNS if names.count(each) > 1]
        for each, what in [
            *((name, "has no column") for name in missing),
            *((name, "has twice") for name in twice),
        ]:
            problems.append(
                source.problem(Code.COLUMN_UNKNOWN, Span(number, 1), (), f"{what} {each}", "have each once")
            )
    if problems:
        raise ScenarioError(problems)
    return names


def _column(name: str) -> str:
    return did_you_mean(name, COLUMNS)


def _cells(source: Source, number: int, line: str) -> list[Leaf]:
    try:
        cells = cells_of(line)
    except RowError as error:
        raise ScenarioError(
            [source.problem(error.code, Span(number, 1), (), error.message, error.remedy)]
        ) from None
    found, column = [], 0
    for text in cells:
        begin = max(line.find(text, column), column)
        found.append(Leaf(text, text, Span(number, begin + 1, max(1, len(text)))))
        column = begin + len(text)
    return found
