"""Built-in traces, such as ``longcut:eventspace/benedict-vvgw``."""

import csv
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from importlib.resources import files
from typing import Any

from longhaul.diagnostics import Code
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.traces.csv_text import text_of_traces
from longhaul.scenario.traces.synthesis import SPIKES, Figures, Sampling, synthesise
from longhaul.scenario.traces.trace import Trace, Way

SETS = ("longcut",)
KINDS = {
    "nws": "means by the Network Weather Service (I, II)",
    "eventspace": "drawn from EventSpace's means and sd (IV, V)",
    "constant": "means of EventSpace (IV, V)",
    "collective": "means in collective operations (III)",
}
"""What there is of the set, in one line, with the numbers of the tables."""
FLOOR = 0.95
"""The floor of a drawn round trip, over the shorter of the means of NWS and EventSpace."""

Pair = tuple[str, str]


class UnknownTraceError(ValueError):
    """No built-in trace has this name."""

    def __init__(self, code: Code, message: str, remedy: str) -> None:
        """Say ``message`` and what there is."""
        super().__init__(f"{message}; {remedy}")
        self.code = code
        self.message = message
        self.remedy = remedy


def is_builtin(name: str) -> bool:
    """Whether ``name`` means a built-in set, not a file."""
    return name.partition(":")[0] in SETS and ":" in name


@lru_cache(maxsize=16)
def text_of(name: str) -> str:
    """The trace ``SET:KIND`` with all links, or ``SET:KIND/SOURCE-DESTINATION``, as the text of a file.

    Raises :class:`UnknownTraceError`.
    """
    return text_of_traces(traces_of(name))


def traces_of(name: str) -> tuple[Trace, ...]:
    """The same as traces."""
    kind, link = _parts(name)
    figures = figures_of(kind)
    pairs = list(figures)
    if link:
        pairs = [pair for pair in pairs if "-".join(pair) == link]
        if not pairs:
            known = ["-".join(pair) for pair in figures]
            raise UnknownTraceError(
                Code.TRACE_UNKNOWN, f'"{kind}" of longcut has no link "{link}"', did_you_mean(link, known)
            )
    return tuple(_trace(kind, pair, figures[pair]) for pair in pairs)


def figures_of(kind: str) -> Mapping[Pair, Figures]:
    """Means and deviations of every link of the Longcut set, by source and destination."""
    if kind == "collective":
        means = _table("table3_collective_rtt.csv")
        return {pair: Figures(rtt_ms=row["rtt_ms"]) for pair, row in means.items()}
    nws = _joined("table1_nws_rtt.csv", "table2_nws_rate.csv")
    if kind == "nws":
        return {pair: Figures(rtt_ms=row["rtt_ms"], rate_mbit=row["rate_mbit"]) for pair, row in nws.items()}
    measured = _joined("table4_eventspace_rtt.csv", "table5_eventspace_rate.csv")
    if kind == "constant":
        return {
            pair: Figures(rtt_ms=row["rtt_ms"], rate_mbit=row["rate_mbit"]) for pair, row in measured.items()
        }
    return {pair: _drawn(row, nws[pair]["rtt_ms"]) for pair, row in measured.items()}


def sets_as_plain() -> list[dict[str, Any]]:
    """Every set with its hosts, kinds, links and figures, for lists."""
    kinds = []
    for kind, what in KINDS.items():
        links = [
            {"from": source, "to": destination, **asdict(figures)}
            for (source, destination), figures in figures_of(kind).items()
        ]
        kinds.append({"kind": kind, "what": what, "links": links})
    hosts = sorted({host for pair in figures_of("nws") for host in pair})
    return [{"set": "longcut", "hosts": hosts, "kinds": kinds}]


def provenance_of(name: str) -> str:
    """Where the numbers of a set are from, as Markdown."""
    return (files("longhaul") / "traces" / name / "provenance.md").read_text(encoding="utf-8")


def _drawn(row: Mapping[str, float], nws_ms: float) -> Figures:
    """What EventSpace's traces are drawn from; a deviation above the mean's height needs spikes."""
    floor = round(FLOOR * min(row["rtt_ms"], nws_ms), 4)
    return Figures(
        rtt_ms=row["rtt_ms"],
        rtt_sd_ms=row["rtt_sd_ms"],
        floor_ms=floor,
        spikes=SPIKES if row["rtt_sd_ms"] > row["rtt_ms"] - floor else 0.0,
        rate_mbit=row["rate_mbit"],
        rate_sd_mbit=row["rate_sd_mbit"],
    )


def _trace(kind: str, pair: Pair, figures: Figures) -> Trace:
    if kind == "eventspace":
        way = Way(*pair, tool="synthetic", period_s=1.0)
        return synthesise(figures, Sampling(balanced=True), seed=f"longcut/{'-'.join(pair)}", way=way)
    way = Way(*pair, tool="table")
    columns: dict[str, tuple[float | None, ...]] = {
        name: (value,)
        for name, value in (("rtt_ms", figures.rtt_ms), ("rate_mbit", figures.rate_mbit))
        if value is not None
    }
    return Trace((0.0,), columns, way)


def _parts(name: str) -> tuple[str, str | None]:
    kind, slash, link = name.partition(":")[2].partition("/")
    if kind not in KINDS:
        raise UnknownTraceError(
            Code.TRACE_UNKNOWN, f'longcut has no kind "{kind}"', did_you_mean(kind, KINDS)
        )
    return kind, link if slash else None


def _joined(first: str, second: str) -> dict[Pair, dict[str, float]]:
    others = _table(second)
    return {pair: {**row, **others[pair]} for pair, row in _table(first).items()}


@lru_cache(maxsize=8)
def _table(name: str) -> dict[Pair, dict[str, float]]:
    """A table of the set, by source and destination."""
    text = (files("longhaul") / "traces" / "longcut" / name).read_text(encoding="utf-8")
    return {
        (row.pop("src"), row.pop("dst")): {key: float(value) for key, value in row.items()}
        for row in csv.DictReader(text.splitlines())
    }
