"""Filters and orders of lists of runs and sweeps: the language of the page's field *find*.

``web/src/model/runTable.ts`` filters on the page; both are tested with ``tests/run/run_filters.json``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from longhaul.analysis.headline import HEADLINES, Headline
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results.annotations import Annotations
from longhaul.results.experiments import Listed, ListedSweep

MOST_PARAMETERS = 8
"""Columns of parameters."""
_FIRST = ("cc", "seed")
_SCALES = {
    "": 1.0,
    "%": 0.01,
    "ns": 1.0,
    "us": 1e3,
    "µs": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "bit": 1.0,
    "kbit": 1e3,
    "mbit": 1e6,
    "gbit": 1e9,
    "k": 1e3,
    "m": 1e6,
    "g": 1e9,
}
_TERM = re.compile(
    r'(?:"(?P<quoted_key>[^"]*)"|(?P<key>[^\s"=!<>]+))(?P<compares>!=|=|<|>)'
    r'(?:"(?P<quoted>[^"]*)"|(?P<value>\S*))|"(?P<quoted_word>[^"]*)"|(?P<word>\S+)'
)
_QUANTITY = re.compile(r"(-?[\d.]+)([a-zµ%]*)(?:/s)?")
_OWN_KEYS = ("tag", "outcome", "state", "status", "network", "verdict", "mode", "name", "run", "note")
_DURATIONS = ("lasted", "duration")


@dataclass(frozen=True)
class Row:
    """What filters and orders know of a run or a sweep."""

    label: str
    name: str
    mode: str
    status: str
    annotations: Annotations
    parameters: Mapping[str, str]
    """Of a sweep's axis, all values: ``cubic+reno``."""
    metrics: Mapping[str, float | None]
    started_unix_s: float
    state: str = ""
    detail: str = ""
    verdict: str = ""
    verdict_text: str = ""
    hosts: str = ""
    duration_s: float | None = None

    @classmethod
    def of_run(cls, run: Listed) -> "Row":
        """Of a run."""
        about = run.experiment
        return cls(
            label=run.label,
            name=about.name,
            mode=about.mode,
            status=about.status,
            annotations=run.annotations,
            parameters=run.parameters,
            metrics=about.metrics,
            started_unix_s=about.started_unix_s,
            state=about.state,
            detail=about.detail,
            verdict=about.verdict or "",
            verdict_text=about.verdict_text or "",
            hosts=about.hosts or "",
            duration_s=about.duration_s,
        )

    @classmethod
    def of_sweep(cls, sweep: ListedSweep) -> "Row":
        """Of a sweep."""
        return cls(
            label=sweep.label,
            name=sweep.name,
            mode="sweep",
            status=sweep.status,
            annotations=sweep.annotations,
            parameters={name: "+".join(values) for name, values in sweep.values.items()},
            metrics={},
            started_unix_s=sweep.started_unix_s,
        )


@dataclass(frozen=True)
class Condition:
    """``cc=reno``: a key, a comparison and a value."""

    key: str
    compares: Literal["=", "!=", "<", ">"]
    value: str


@dataclass(frozen=True)
class Word:
    """Text that occurs anywhere, or ``is_excluded``: nowhere."""

    text: str
    is_excluded: bool


def terms(text: str) -> list[Condition | Word]:
    """``degraded``, ``-live``, ``cc=reno``, ``goodput>10Mbit``, ``"delay of link wan"=10ms``."""
    found: list[Condition | Word] = []
    for match in _TERM.finditer(text):
        if match["compares"]:
            key = match["key"] if match["quoted_key"] is None else match["quoted_key"]
            value = match["value"] if match["quoted"] is None else match["quoted"]
            found.append(Condition(key.lower(), match["compares"], value))  # type: ignore[arg-type]
        elif match["quoted_word"] is not None:
            found.append(Word(match["quoted_word"].lower(), is_excluded=False))
        else:
            word = match["word"]
            is_excluded = len(word) > 1 and word.startswith("-")
            found.append(Word(word[is_excluded:].lower(), is_excluded))
    return found


def quantity(text: str) -> float | None:
    """A number with a unit, in the units of metrics: ns, bit/s, shares; ``None`` for other text."""
    match = _QUANTITY.fullmatch(_plain(text))
    if match is None or match[2] not in _SCALES:
        return None
    try:
        return float(match[1]) * _SCALES[match[2]]
    except ValueError:
        return None


def matches(row: Row, wanted: Iterable[Condition | Word]) -> bool:
    """Whether every term holds."""
    return all(_holds(row, term) for term in wanted)


def check(wanted: Iterable[Condition | Word], rows: Sequence[Row]) -> None:
    """Raise LonghaulError for a key that no row has, and for a bound that is not a number."""
    names = {name.lower(): name for row in rows for name in row.parameters}
    measured = {name for row in rows for name, value in row.metrics.items() if value is not None}
    for term in wanted:
        if isinstance(term, Word):
            continue
        is_known = (
            term.key in names
            or term.key in _OWN_KEYS
            or term.key in _DURATIONS
            or _metric_of(term.key, {each.name for each in HEADLINES}) is not None
        )
        if rows and not is_known:
            keys = sorted(names.values()) + sorted(measured) + ["tag", "outcome", "mode", "name", "lasted"]
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f'no run has "{term.key}"',
                remedy=f"use one of: {', '.join(dict.fromkeys(keys))}",
                exit_code=2,
            )
        if term.compares in "<>" and quantity(term.value) is None:
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f'"{term.value}" behind "{term.key}{term.compares}" is not a quantity',
                remedy="write for example goodput>10Mbit, rtt_p99<50ms or jain>0.9, and quote the filter: "
                "> redirects the output in a shell",
                exit_code=2,
            )


def parameter_columns(rows: Sequence[Row]) -> list[str]:
    """Parameters that are not the same in all of these rows: algorithms, seeds, then those of most rows."""
    counts: dict[str, int] = {}
    for row in rows:
        for name in row.parameters:
            counts[name] = counts.get(name, 0) + 1
    varied = [
        name for name in counts if len(rows) > 1 and len({row.parameters.get(name) for row in rows}) > 1
    ]
    varied.sort(key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), -counts[name]))
    return varied[:MOST_PARAMETERS]


def metric_columns(rows: Sequence[Row]) -> list[Headline]:
    """Metrics that at least one of these rows has."""
    return [each for each in HEADLINES if any(row.metrics.get(each.name) is not None for row in rows)]


def order(rows: Sequence[Row], by: str) -> Callable[[Row], tuple[bool, bool, float, list[str | int]]]:
    """A key to sort rows by a column: numbers before text, nothing last.

    Raises LonghaulError for a column that no row has.
    """
    short = by.lower()
    metric = _metric_of(short, {each.name for each in HEADLINES})
    parameter = next((name for row in rows for name in row.parameters if name.lower() == short), None)

    def value(row: Row) -> str | float | None:
        if parameter is not None:
            text = row.parameters.get(parameter, "")
            found = quantity(text)
            return (text or None) if found is None else found
        if metric is not None:
            return row.metrics.get(metric)
        if short in _DURATIONS:
            return row.duration_s
        if short == "started":
            return row.started_unix_s
        return next(iter(_said(row, short)), None)

    if metric is None and parameter is None and short not in (*_OWN_KEYS, *_DURATIONS, "started"):
        known = [*dict.fromkeys(name for row in rows for name in row.parameters)]
        known += [each.name for each in metric_columns(rows)] + ["started", "lasted", "run", "outcome"]
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f'there is no column "{by}"',
            remedy=f"sort by one of: {', '.join(known)}",
            exit_code=2,
        )

    def key(row: Row) -> tuple[bool, bool, float, list[str | int]]:
        found = value(row)
        if isinstance(found, int | float):
            return False, False, float(found), []
        return found is None or found == "", True, 0.0, _natural(found or "")

    return key


def sort(rows: Sequence[Row], by: str) -> list[int]:
    """The places of rows in the order of a column, descending for ``-COLUMN``; nothing comes last."""
    is_descending = by.startswith("-")
    key = order(rows, by.removeprefix("-"))
    keyed = [(key(row), place) for place, row in enumerate(rows)]
    known = sorted(
        (each for each in keyed if not each[0][0]), key=lambda each: each[0][1:], reverse=is_descending
    )
    return [place for _, place in known] + [place for found, place in keyed if found[0]]


def _natural(text: str) -> list[str | int]:
    """``run 10`` after ``run 9``: text and numbers take turns."""
    return [
        int(part) if place % 2 else part for place, part in enumerate(re.split(r"(\d{1,18})", text.lower()))
    ]


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text.lower())


def _said(row: Row, key: str) -> list[str]:
    """What a row has under a key of the filter."""
    parameter = next((value for name, value in row.parameters.items() if name.lower() == key), None)
    if parameter is not None:
        return [parameter, *parameter.split("+")]
    own = {
        "tag": row.annotations.tags,
        "outcome": (row.state,),
        "state": (row.state,),
        "status": (row.status,),
        "network": (row.verdict_text, row.verdict),
        "verdict": (row.verdict_text, row.verdict),
        "mode": (row.mode,),
        "name": (row.name, row.label),
        "run": (row.label, row.name),
        "note": (row.annotations.note,),
    }
    return list(own.get(key, ()))


def _metric_of(key: str, metrics: Iterable[str]) -> str | None:
    short = re.sub(r"[_.]", "", _plain(key))
    return next((name for name in metrics if name.replace("_", "") == short), None)


def _measured(row: Row, key: str) -> float | None:
    metric = _metric_of(key, row.metrics)
    if metric is not None:
        return row.metrics[metric]
    if key in _DURATIONS:
        return None if row.duration_s is None else row.duration_s * 1e9
    texts = _said(row, key)
    return quantity(texts[0]) if texts else None


def _holds(row: Row, term: Condition | Word) -> bool:
    if isinstance(term, Word):
        return (term.text in _everything(row)) != term.is_excluded
    wanted = quantity(term.value)
    measured = _measured(row, term.key)
    if term.compares in "<>":
        if wanted is None or measured is None:
            return False
        return measured < wanted if term.compares == "<" else measured > wanted
    has = any(_plain(each) == _plain(term.value) for each in _said(row, term.key))
    equal = has or (wanted is not None and measured == wanted)
    return equal == (term.compares == "=")


def _everything(row: Row) -> str:
    said = row.annotations
    parameters = [f"{name}={value}" for name, value in row.parameters.items()]
    texts = [row.label, row.name, said.title, row.mode, row.status, row.state, row.detail]
    texts += [row.verdict_text, row.hosts, *said.tags, said.note, *parameters]
    return "\n".join(texts).lower()
