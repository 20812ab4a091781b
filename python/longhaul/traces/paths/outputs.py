"""Detection and reading of saved outputs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from longhaul.analysis.traces import Trace
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.traces.paths import mtr, ping, traceroute
from longhaul.traces.paths.lines import Output

HERE = "here"
"""What the place is called where a trace was taken, if nobody says."""
_LARGEST = 16 << 20


def read_saved(words: str) -> list[Trace]:
    """The traces in a file; ``words`` is its name or, for traces taken elsewhere, ``PLACE=FILE``.

    Raises :class:`LonghaulError` with the line and a remedy.
    """
    place, equals, rest = words.partition("=")
    path = Path(words if Path(words).exists() or not equals else rest)
    source = place if equals and str(path) != words else ""
    try:
        content = read_regular(path, most_bytes=_LARGEST + 1)
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file that can be read", exit_code=2
        ) from None
    if len(content) > _LARGEST:
        raise LonghaulError(
            Code.FILE_TOO_LARGE,
            f"{path} has more than {_LARGEST >> 20} MiB",
            remedy="use a part of it",
            exit_code=2,
        )
    if b"\0" in content:
        raise LonghaulError(
            Code.NOT_TEXT, f"{path} is not text", remedy="save what the program prints", exit_code=2
        )
    lines = tuple(content.decode("utf-8-sig", errors="replace").splitlines())
    return read_output(Output(str(path), lines, source))


def read_output(output: Output) -> list[Trace]:
    """The traces that traceroute, tracepath, mtr or ping printed, one after another."""
    traces = [trace for part in _parts(output) for trace in _read(part)]
    if not traces:
        remedy = "save what traceroute, tracepath, mtr --report, mtr --json or ping prints"
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED,
            f"{output.name}: no output of a program that is known",
            remedy=remedy,
            exit_code=2,
        )
    return [trace if trace.source else _taken(trace, HERE) for trace in traces]


def _taken(trace: Trace, source: str) -> Trace:

    return replace(trace, source=source)


def _kind(line: str) -> str | None:
    """The program whose output begins with ``line``."""
    if traceroute.HEAD.match(line):
        return "traceroute"
    if ping.HEAD.match(line):
        return "ping"
    if mtr.HEAD.search(line):
        return "report"
    return None


def _parts(output: Output) -> Iterator[Output]:
    """``output``, cut where another program begins; line numbers stay those of the file."""
    # The date above a report of mtr belongs to what follows it.
    lines = tuple("" if line.startswith("Start: ") else line for line in output.lines)
    begins = [index for index, line in enumerate(lines) if _kind(line)]
    if not begins:
        yield output
        return
    for number, begin in enumerate(begins):
        end = begins[number + 1] if number + 1 < len(begins) else len(lines)
        blank = ("",) * begin
        yield Output(output.name, (*blank, *lines[begin:end]), output.source, output.target)


def _read(output: Output) -> list[Trace]:
    first = next((line for line in output.lines if line.strip()), "")
    kind = _kind(first)
    if kind == "traceroute":
        return traceroute.read_traceroute(output)
    if kind == "ping":
        return ping.read_ping(output)
    if kind == "report":
        return mtr.read_report(output)
    if first.lstrip().startswith("{"):
        return mtr.read_json(output)
    if mtr.RAW.match(first):
        return mtr.read_raw(output)
    if traceroute.TRACEPATH.match(first):
        return traceroute.read_tracepath(output)
    return []
