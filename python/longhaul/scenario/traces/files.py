"""Traces from and to files, by file extension, and built-in traces."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from longhaul import storage
from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.csv_file import MAX_BYTES, MAX_ROWS, InputFile, check_table
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError
from longhaul.scenario.traces import builtin, opportunities, parquet
from longhaul.scenario.traces.csv_text import Reading, read_text, text_of_traces
from longhaul.scenario.traces.trace import Trace, Way
from longhaul.storage import writing

MAHIMAHI = (".up", ".down", ".mahi")
"""What the names of mahimahi's traces end in."""


def read_traces(name: str, *, bin_s: float = 1.0) -> Reading:
    """The traces of file ``name``: CSV, Parquet or mahimahi; or of a built-in set.

    ``bin_s`` is over how long mahimahi's opportunities are counted. Raises :class:`LonghaulError`, which says
    the line.
    """
    try:
        if builtin.is_builtin(name):
            return Reading(builtin.traces_of(name))
        if name.endswith(".parquet"):
            return Reading(parquet.read_parquet(Path(name)))
        file = _file(Path(name))
        if name.endswith(MAHIMAHI):
            return Reading((opportunities.read_opportunities(file, bin_s=bin_s),))
        return read_text(file)
    except FileError as error:
        raise ScenarioError([error.problem]) from None
    except (builtin.UnknownTraceError, ScenarioValueError) as error:
        raise LonghaulError(
            error.code, f"{printable(name)}: {error.message}", remedy=error.remedy, exit_code=2
        ) from None


def named(given: str) -> tuple[str | None, str]:
    """``SOURCE:DESTINATION=FILE`` as link and file; without the link, the file alone."""
    link, equals, file = given.partition("=")
    if not equals or Path(given).exists():
        return None, given
    return link, file


def read_named(given: str) -> Reading:
    """The traces of ``[SOURCE:DESTINATION=]FILE``; a link that is given stands for the file's own."""
    link, name = named(given)
    reading = read_traces(name)
    if link is None:
        return reading
    ends = ends_of(link)
    if len(reading.traces) > 1:
        message = f"{name} has {len(reading.traces)} links of its own"
        raise LonghaulError(Code.TRACE_LINK, message, remedy=f"leave out {link}=", exit_code=2)
    trace = reading.traces[0]
    way = replace(trace.way, source=ends[0], destination=ends[1]) if trace.way else Way(*ends)
    return replace(reading, traces=(replace(trace, way=way),))


def ends_of(link: str) -> tuple[str, str]:
    """``SOURCE:DESTINATION`` as a pair."""
    source, colon, destination = link.partition(":")
    hosts = (source, destination)
    if not colon or any(not host or any(char.isspace() or char in ",#" for char in host) for host in hosts):
        message = f'"{printable(link)}" is not a link'
        raise LonghaulError(
            Code.TRACE_LINK, message, remedy="write SOURCE:DESTINATION, such as par:nyc", exit_code=2
        )
    return hosts


def write_traces(path: Path, traces: Sequence[Trace], *, force: bool = False) -> None:
    """Write ``traces`` as the end of ``path`` says: Parquet, mahimahi, else CSV.

    Raises :class:`LonghaulError` if the file is there and ``force`` is not set.
    """
    if path.suffix in MAHIMAHI and len(traces) > 1:
        message = f"{path.name} has one link, not {len(traces)}"
        raise LonghaulError(
            Code.TRACE_LINK, message, remedy="name one with --link SOURCE:DESTINATION", exit_code=2
        )
    content = content_of(path.suffix, traces)
    try:
        with writing(path), path.open("wb" if force else "xb") as file:
            file.write(content)
    except FileExistsError:
        remedy = "choose another name, or add --force"
        raise LonghaulError(Code.FILE_EXISTS, f"{path} already exists", remedy=remedy, exit_code=2) from None


def content_of(suffix: str, traces: Sequence[Trace]) -> bytes:
    """``traces`` as the bytes of a file whose name ends in ``suffix``."""
    if suffix == ".parquet":
        return parquet.content_of(traces)
    if suffix in MAHIMAHI:
        return opportunities.text_of_opportunities(traces[0]).encode()
    return text_of_traces(traces).encode()


def sidecar_of(path: Path) -> Path:
    """Where the facts about a trace stand that its text has no room for: ``wan.json`` beside ``wan.csv``."""
    return path.with_suffix(".json")


def write_sidecar(path: Path, facts: Mapping[str, Any]) -> None:
    """Write ``facts`` beside the trace in ``path``, with the checksum of its bytes."""
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    text = json.dumps({**facts, "sha256": checksum}, indent=1)
    storage.replace_text(sidecar_of(path), f"{text}\n")


def read_sidecar(path: Path) -> Mapping[str, Any] | None:
    """The facts beside the trace in ``path``, if there are any; raises :class:`LonghaulError`."""
    beside = sidecar_of(path)
    try:
        facts = json.loads(beside.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED,
            f"{beside}: {printable(str(error))}",
            remedy="write it again, or remove it",
            exit_code=2,
        ) from None
    return facts if isinstance(facts, dict) else None


def _file(path: Path) -> InputFile:
    try:
        content = read_regular(path, most_bytes=MAX_BYTES + 1)
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        remedy = "name a file that can be read; longhaul trace list has the built-in ones"
        raise LonghaulError(Code.FILE_UNREADABLE, message, remedy=remedy, exit_code=2) from None
    if len(content) > MAX_BYTES:
        message = f"{path} has more than {MAX_BYTES >> 20} MiB"
        raise LonghaulError(
            Code.FILE_TOO_LARGE, message, remedy="cut it, or write it as Parquet", exit_code=2
        )
    try:
        lines = tuple(content.decode("utf-8-sig").splitlines())
    except UnicodeDecodeError as error:
        message = f"{path} is not text: byte {error.start} is not UTF-8"
        raise LonghaulError(
            Code.NOT_TEXT, message, remedy="give CSV, Parquet or mahimahi", exit_code=2
        ) from None
    found = InputFile(str(path), lines)
    if len(lines) > MAX_ROWS:
        raise found.wrong(
            Code.FILE_TOO_LARGE, MAX_ROWS + 1, f"more than {MAX_ROWS} lines", "write a shorter trace"
        )
    if next(found.rows(), None) is None:
        raise found.wrong(Code.EMPTY_FILE, 1, "is empty", "write a header and a line for each sample")
    check_table(found)
    return found
