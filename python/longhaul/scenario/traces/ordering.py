"""``longhaul trace synthesise``, from its options to traces."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.csv_file import MAX_BYTES
from longhaul.scenario.syntax.csv_row import RowError, cells_of
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.traces import builtin
from longhaul.scenario.traces.synthesis import Figures, Sampling, synthesise
from longhaul.scenario.traces.trace import Trace, Way
from longhaul.units.text import count_text

_OF_LINK = ("rtt", "rtt_sd", "floor", "spikes", "rate", "rate_sd")
_FIGURES = ("rtt_ms", "rtt_sd_ms", "floor_ms", "spikes", "rate_mbit", "rate_sd_mbit")
FLOOR = 0.95
"""The floor where none is given, over the mean."""


def draw(given: Mapping[str, Any]) -> tuple[Trace, ...]:
    """The traces that the options ``given`` ask for: one, or one of each link of a table.

    Raises :class:`LonghaulError`.
    """
    correlation = given.get("correlation")
    period_s = given["period"].ns / 1e9
    sampling = Sampling(
        period_s=period_s,
        duration_s=given["duration"].ns / 1e9,
        correlation_s=correlation.ns / 1e9 if correlation else 0.0,
        balanced=bool(given.get("balanced")),
    )
    if sampling.balanced and sampling.correlation_s:
        raise LonghaulError(
            Code.OPTION_CONFLICT, "correlated samples cannot be balanced", remedy="leave out one", exit_code=2
        )
    link = given.get("link")
    if given.get("table") is None:
        way = Way(link[0], link[1], "synthetic", period_s) if link else None
        return (synthesise(_figures(given), sampling, seed=str(given["seed"]), way=way),)
    doubled = [f"--{name.replace('_', '-')}" for name in _OF_LINK if given.get(name) is not None]
    if doubled:
        raise LonghaulError(
            Code.OPTION_CONFLICT, f"the table says {doubled[0]}", remedy="leave out one of them", exit_code=2
        )
    table = _table(given["table"])
    if link and link not in table:
        known = [":".join(pair) for pair in table]
        what = f"the table has no link {':'.join(link)}"
        raise LonghaulError(Code.TRACE_LINK, what, remedy=did_you_mean(":".join(link), known), exit_code=2)
    return tuple(
        synthesise(
            figures,
            sampling,
            seed=f"{given['seed']}/{'-'.join(pair)}",
            way=Way(*pair, tool="synthetic", period_s=period_s),
        )
        for pair, figures in table.items()
        if link in (None, pair)
    )


def facts(traces: Sequence[Trace], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the sidecar of drawn traces says."""
    options = {name: value for name, value in given.items() if value is not None and name != "link"}
    return {
        "tool": "synthetic",
        "options": {
            name: value if isinstance(value, bool | int | float) else str(value)
            for name, value in options.items()
        },
        "links": [list(trace.way.ends) for trace in traces if trace.way],
        "rows": sum(len(trace) for trace in traces),
    }


def _figures(given: Mapping[str, Any]) -> Figures:
    rtt, sd, floor = (
        given[name].ns / 1e6 if given.get(name) else None for name in ("rtt", "rtt_sd", "floor")
    )
    rate, rate_sd = (
        given[name].bits_per_s / 1e6 if given.get(name) else None for name in ("rate", "rate_sd")
    )
    for name, mean, of in (("rtt", rtt, ("rtt_sd", "floor", "spikes")), ("rate", rate, ("rate_sd",))):
        extra = [each for each in of if given.get(each) is not None]
        if mean is None and extra:
            option = f"--{extra[0].replace('_', '-')}"
            raise LonghaulError(
                Code.OPTION_CONFLICT, f"{option} belongs to --{name}", remedy=f"add --{name}", exit_code=2
            )
    return Figures(
        rtt_ms=rtt,
        rtt_sd_ms=sd or 0.0,
        floor_ms=floor if floor is not None else FLOOR * (rtt or 0.0),
        spikes=given.get("spikes") or 0.0,
        rate_mbit=rate,
        rate_sd_mbit=rate_sd or 0.0,
    )


def _table(name: str) -> Mapping[tuple[str, str], Figures]:
    if builtin.is_builtin(name):
        kind = name.partition(":")[2]
        if kind not in builtin.KINDS:
            remedy = did_you_mean(kind, builtin.KINDS)
            raise LonghaulError(
                Code.TRACE_UNKNOWN, f'longcut has no kind "{printable(kind)}"', remedy=remedy, exit_code=2
            )
        return builtin.figures_of(kind)
    try:
        text = read_regular(Path(name), most_bytes=MAX_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not text"
        remedy = "name a CSV file, or longcut:eventspace"
        raise LonghaulError(
            Code.FILE_UNREADABLE, f"{name}: {reason.lower()}", remedy=remedy, exit_code=2
        ) from None
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = [(number, line) for number, line in lines if not line.lstrip().startswith("#")]
    if len(rows) < 2:
        raise LonghaulError(
            Code.EMPTY_FILE,
            f"{name} has no rows",
            remedy="write src,dst,rtt_ms and a row a link",
            exit_code=2,
        )
    header = [cell.strip() for cell in rows[0][1].split(",")]
    unknown = [cell for cell in header if cell not in ("src", "dst", *_FIGURES)]
    if unknown or not {"src", "dst"} <= set(header):
        message = f"{name}:{rows[0][0]}: " + (
            f'there is no column "{printable(unknown[0])}"' if unknown else "has no columns src and dst"
        )
        remedy = did_you_mean(unknown[0], _FIGURES) if unknown else "say from where to where"
        raise LonghaulError(Code.COLUMN_UNKNOWN, message, remedy=remedy, exit_code=2)
    return dict(_row(name, number, header, line) for number, line in rows[1:])


def _row(name: str, number: int, header: Sequence[str], line: str) -> tuple[tuple[str, str], Figures]:
    try:
        cells = cells_of(line)
    except RowError as error:
        message = f"{name}:{number}: {error.message}"
        raise LonghaulError(error.code, message, remedy=error.remedy, exit_code=2) from None
    if len(cells) != len(header):
        message = (
            f"{name}:{number}: has {count_text(len(cells), 'value')} for {count_text(len(header), 'column')}"
        )
        raise LonghaulError(Code.ROW_MALFORMED, message, remedy="write one for each column", exit_code=2)
    row = dict(zip(header, cells, strict=True))
    values: dict[str, float] = {}
    for key in _FIGURES:
        if row.get(key):
            try:
                values[key] = float(row[key])
            except ValueError:
                values[key] = -1.0
            if not 0 <= values[key] < float("inf"):
                message = f'{name}:{number}: "{printable(row[key])}" is no {key}'
                raise LonghaulError(
                    Code.CELL_INVALID, message, remedy="write a number such as 12 or 0.5", exit_code=2
                )
    if "rtt_ms" in values:
        values.setdefault("floor_ms", FLOOR * values["rtt_ms"])
    return (row["src"], row["dst"]), Figures(**values)
