"""Time/sequence graphs of TCP flows, after tcptrace: sent, retransmitted, acknowledged, and allowed data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.segments import busiest_span, flows
from longhaul.report.chart import Axis, Chart, Panel, Part, Series, column
from longhaul.report.over_time import with_marks
from longhaul.report.sequence_points import LOOKS, MOST_ROWS, thinned

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]
Kinds = Mapping[str, Array]

_SPANS = 40
"""Of the part that is shown closely, so many would be the whole."""
_LEAST_S = 0.02
_LEAST_SHARE = 0.001
"""Of the bytes of the flow that sent most; what controls it is less, and not shown."""
_US = 1e-6
_DATA = ("new", "retransmitted", "late")


def sequences(table: Mapping[str, Array], changes: Sequence[Json] = ()) -> Chart | None:
    """The flows that sent most over a recorded link; the part of each is that with most retransmissions."""
    found = flows(table)
    ends = {key: kinds["new"][:, 2].max(initial=0) for key, kinds in found.items()}
    most = max(ends.values(), default=0)
    shown = {key: kinds for key, kinds in found.items() if ends[key] > most * _LEAST_SHARE}
    if not shown:
        return None
    panels = []
    for (link, way, flow), kinds in shown.items():
        sent = sum(len(kinds[kind]) for kind in _DATA)
        title = f"{flow}, {link} {way}: {len(kinds['retransmitted']):,} of {sent:,} retransmitted"
        panels.append(panel(kinds, title=title, most=MOST_ROWS // len(shown)))
    return Chart(
        "sequences",
        "time/sequence graphs of TCP flows",
        column(with_marks(panels, changes)),
        height_in=0.6 + 2.7 * len(shown),
        legend="above",
    )


def panel(kinds: Kinds, *, title: str, most: int) -> Panel:
    """The graph of one flow, of at most about ``most`` rows."""
    thin = thinned(kinds, most=most)
    highest = np.concatenate([kinds[kind][:, 2] for kind in _DATA]).max(initial=0)
    unit, scale = ("MB", 1e6) if highest >= 1e6 else ("kB", 1e3)
    series = [
        _strokes(kind, thin.strokes[kind], scale)
        for kind in ("sack", "new", "late", "retransmitted")
        if len(thin.strokes[kind])
    ]
    for kind, place in (("ack", 1), ("limit", 2)):
        known = thin.acks[np.isfinite(thin.acks[:, place])]
        if len(known):
            look = LOOKS[kind]
            series.append(
                Series(
                    look.name,
                    look.colour,
                    known[:, 0],
                    known[:, place] / scale,
                    kind="steps-after",
                    size=look.width,
                )
            )
    begin, end = _close(kinds)
    return Panel(
        title,
        Axis("time [s]", step=_US),
        Axis(f"data [{unit}]", step=1 / scale),
        series=series,
        part=Part(
            round(begin, 6),
            round(end, 6),
            "most retransmissions" if len(kinds["retransmitted"]) else "its middle",
        ),
        # A window far above what was sent says only that it did not matter.
        ignored=frozenset((LOOKS["limit"].name, LOOKS["sack"].name)),
        note=thin.note,
    )


def _strokes(kind: str, rows: Array, scale: float) -> Series:
    look = LOOKS[kind]
    return Series(
        look.name,
        look.colour,
        rows[:, 0],
        rows[:, 3] / scale,
        kind="strokes",
        size=look.width,
        low=rows[:, 1] / scale,
        to_x=rows[:, 2],
        tipped=kind == "retransmitted",
    )


def _close(kinds: Kinds) -> tuple[float, float]:
    """A short part with the most retransmissions, or the middle of the record."""
    instants = np.concatenate([rows[:, 0] for rows in kinds.values()])
    begin, end = float(instants.min()), float(instants.max())
    span_s = max((end - begin) / _SPANS, _LEAST_S)
    if len(kinds["retransmitted"]):
        return busiest_span(np.sort(kinds["retransmitted"][:, 0]), span_s=span_s)
    middle = (begin + end) / 2
    return middle - span_s / 2, middle + span_s / 2
