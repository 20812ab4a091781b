"""Charts of flows that share a bottleneck, with one colour for each flow in all charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longhaul.analysis.fairness import jain
from longhaul.analysis.phases import series_of
from longhaul.analysis.sharing import carried_span, rates_over, together
from longhaul.report.chart import Axis, Chart, Level, Panel, Series, column, left_out_text
from longhaul.report.colours import MUTED, SERIES
from longhaul.report.over_time import with_configured, with_marks
from longhaul.units.text import rate_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]
Stream = tuple[str, int]
"""A flow, and the place of a stream in it."""

_MOST_GROUPS = 4
_MOST_BARS = 32
_MOST_BINS = 600
_KINDS = ("tcp", "udp")


def colours(flows: Sequence[Json]) -> dict[Stream, str]:
    """A colour for each stream as long as there are enough of them; otherwise for each flow."""
    shown = [(flow["flow"], _streams(flow)) for flow in flows if flow["kind"] in _KINDS]
    alone = sum(streams for _, streams in shown) <= len(SERIES)
    found: dict[Stream, str] = {}
    for number, (name, streams) in enumerate(shown):
        for stream in range(streams):
            place = len(found) if alone else number
            found[name, stream] = SERIES[place % len(SERIES)]
    return found


def fairness(flows: Sequence[Json], rows: Mapping[str, Array], links: Sequence[Json]) -> Chart | None:
    """Goodput of each stream of the TCP flows that ran together through a bottleneck, and Jain's index."""
    groups = [
        (place, members)
        for place, sharing in _by_bottleneck([flow for flow in flows if flow["kind"] == "tcp"]).items()
        for members in _ran_together(sharing, rows)
        if sum(len(each["stream_rates"]) for each in members) > 1
    ]
    shown = sorted(groups, key=lambda each: -sum(flow["goodput_bits_per_s"] or 0 for flow in each[1]))
    every, shown = len(shown), shown[:_MOST_GROUPS]
    if not shown:
        return None
    look = colours(flows)
    bars = [_bars(members, look) for _, members in shown]
    heights = [0.22 * len(each) + 0.3 for each in bars]
    panels = []
    for (place, members), mine in zip(shown, bars, strict=True):
        rates = [rate for flow in members for rate in flow["stream_rates"]]
        index = jain(rates)
        text = "no traffic" if index is None else f"Jain's index {index:.3f} over {len(rates)} streams"
        panels.append(
            Panel(
                f"{_title(place, links)}: {text}",
                Axis("goodput [Mbit/s]", low=0, high=max(bar.most for bar in mine) / 1e6 * 1.14 or 1),
                Axis("", names=tuple(bar.name for bar in mine)),
                series=[_bar(number, bar) for number, bar in enumerate(mine)],
                levels=[Level(sum(rates) / len(rates) / 1e6, MUTED, along="x")],
            )
        )
    return Chart(
        "fairness",
        "goodput of flows that share a bottleneck",
        column(panels),
        height_in=0.6 + sum(heights) + 0.15 * len(shown),
        heights=tuple(heights),
        note=left_out_text(every, len(shown), "The {shown} of {every} groups that carried most"),
    )


@dataclass(frozen=True)
class _Bar:
    """A stream, or a flow of many streams."""

    name: str
    colour: str
    least: float
    mean: float
    most: float


def _bar(row: int, bar: _Bar) -> Series:
    low, mean, high = (np.array([rate / 1e6]) for rate in (bar.least, bar.mean, bar.most))
    return Series(
        bar.name,
        bar.colour,
        np.zeros(1),
        np.array([float(row)]),
        kind="bars",
        listed=False,
        size=0.7,
        to_x=mean,
        x_interval=(low, high) if bar.most > bar.least else None,
        words=(rate_text(bar.mean),),
    )


def _bars(flows: Sequence[Json], look: Mapping[Stream, str]) -> list[_Bar]:
    """A bar for each stream, or for each flow if there are many streams."""
    rates = [(flow, flow["stream_rates"]) for flow in flows if flow["stream_rates"]]
    if sum(len(each) for _, each in rates) > _MOST_BARS:
        return [
            _Bar(
                f"{_named(flow)}, {len(each)} streams",
                look[flow["flow"], 0],
                min(each),
                sum(each) / len(each),
                max(each),
            )
            for flow, each in rates
        ]
    return [
        _Bar(
            _named(flow) if len(each) == 1 else _named(flow, stream), look[flow["flow"], stream], *(rate,) * 3
        )
        for flow, each in rates
        for stream, rate in enumerate(each)
    ]


def stacked(
    flows: Sequence[Json], rows: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()
) -> Chart | None:
    """What flows carried over time, one above the other, through the bottleneck that had most of it."""
    if not len(rows.get("flow", ())):
        return None
    present = set(rows["flow"])
    seen = [flow for flow in flows if flow["kind"] in _KINDS and flow["flow"] in present]
    look = colours(flows)
    alone = len(look) <= len(SERIES)
    shared = {
        place: sharing
        for place, sharing in _by_bottleneck(seen).items()
        if len(sharing) > 1 or (alone and _streams(sharing[0]) > 1)
    }
    if not shared:
        return None
    place = max(shared, key=lambda each: sum(flow["goodput_bits_per_s"] or 0 for flow in shared[each]))
    layers = _layers(shared[place], look, rows)
    if len(layers) < 2:
        return None
    edges_s = layers[0][3]
    phases = next((each["phases"] for each in links if _place(each) == place), ())
    limits = [each["configured"]["rate_bits_per_s"] for each in phases]
    least = min((each for each in limits if each is not None), default=None)
    below = np.zeros(len(edges_s))
    series = []
    for name, colour, rates, _ in layers:
        # A step goes on to the next edge, the last one to the end.
        above = below + np.append(rates, rates[-1]) / 1e6
        series.append(Series(name, colour, edges_s, above, kind="area", opacity=0.85, low=below))
        below = above
    panel = Panel(
        _title(place, links),
        Axis("time [s]", low=0, high=float(edges_s[-1])),
        Axis("carried [Mbit/s]", low=0),
        series=series,
    )
    if least and below.max() * 1e6 > least / 3:
        panel = with_configured(panel, phases, "rate_bits_per_s", unit=1e6)
    return Chart(
        "stacked",
        "what flows carried over time, one above the other",
        column(with_marks([panel], changes)),
        height_in=2.9,
        legend="beside",
        note=left_out_text(len(shared), 1, "The busiest of {every} bottlenecks"),
    )


def _layers(
    sharing: Sequence[Json], look: Mapping[Stream, str], rows: Mapping[str, Array]
) -> list[tuple[str, str, Array, Array]]:
    """Name, colour, rates and the edges of their bins, of each stream, or flow; the least are together."""
    alone = len(look) <= len(SERIES)
    starts = rows["start_ns"].astype(float) / 1e9
    begin_s, end_s = starts + rows["start_s"].astype(float), starts + rows["end_s"].astype(float)
    mine = np.isin(rows["flow"], [flow["flow"] for flow in sharing])
    known = mine & np.isfinite(begin_s) & np.isfinite(end_s) & (end_s > begin_s)
    if not known.any():
        return []
    longest = float(end_s[known].max())
    lengths_s = np.sort((end_s - begin_s)[known])
    width_s = max(float(lengths_s[len(lengths_s) // 2]), longest / _MOST_BINS)
    edges_s = np.arange(0.0, longest + width_s, width_s)
    found = []
    for flow in sharing:
        of_flow = known & (rows["flow"] == flow["flow"])
        streams = sorted(set(rows["stream"][of_flow].tolist()))
        each = []
        for stream in streams:
            mask = of_flow & (rows["stream"] == stream)
            rates = np.nan_to_num(rows["bits_per_s"][mask].astype(float))
            each.append(rates_over(edges_s, begin_s[mask], end_s[mask], rates))
        if alone and len(each) > 1:
            for number, rates in enumerate(each):
                colour = look.get((flow["flow"], number), MUTED)
                found.append((_named(flow, number), colour, rates, edges_s))
        elif each:
            found.append((_named(flow), look[flow["flow"], 0], np.sum(each, axis=0), edges_s))
    if len(found) <= len(SERIES):
        return found
    found.sort(key=lambda layer: -float(layer[2].sum()))
    rest = found[len(SERIES) - 1 :]
    others = (f"{len(rest)} others", MUTED, np.sum([rates for _, _, rates, _ in rest], axis=0), edges_s)
    return [*found[: len(SERIES) - 1], others]


def _ran_together(flows: Sequence[Json], rows: Mapping[str, Array]) -> list[list[Json]]:
    spans = [_span(flow, rows) for flow in flows]
    running = [(flow, span) for flow, span in zip(flows, spans, strict=True) if span is not None]
    return [[running[place][0] for place in group] for group in together([span for _, span in running])]


def _span(flow: Json, rows: Mapping[str, Array]) -> tuple[float, float] | None:
    """From when to when a flow carried its data, in s."""
    if not len(rows.get("flow", ())):
        return None
    mine = rows["flow"] == flow["flow"]
    starts = rows["start_ns"][mine].astype(float) / 1e9
    begin_s, end_s = (starts + rows[name][mine].astype(float) for name in ("start_s", "end_s"))
    return carried_span(begin_s, end_s, np.nan_to_num(rows["bits_per_s"][mine].astype(float)))


def _by_bottleneck(flows: Sequence[Json]) -> dict[tuple[str, str], list[Json]]:
    groups: dict[tuple[str, str], list[Json]] = {}
    for flow in flows:
        if flow.get("bottleneck"):
            groups.setdefault((flow["bottleneck"]["link"], flow["bottleneck"]["way"]), []).append(flow)
    return groups


def _streams(flow: Json) -> int:
    return max(len(flow.get("stream_rates") or ()), 1)


def _named(flow: Json, stream: int | None = None) -> str:
    name = flow["flow"] if stream is None else f"{flow['flow']}.{stream}"
    return f"{name} ({flow['cc']})" if flow.get("cc") else name


def _place(link: Json) -> tuple[str, str]:
    return link["name"], link["way"]


def _title(place: tuple[str, str], links: Sequence[Json]) -> str:
    """What a bottleneck is called: where from and to, and how fast."""
    link = next((each for each in links if _place(each) == place), None)
    if link is None:
        return place[0]
    title = f"{link['name']}, {link['from']} > {link['to']}"
    limited = any(phase["configured"]["rate_bits_per_s"] for phase in link["phases"])
    return f"{title}, {series_of(link, 'rate_bits_per_s').brief}" if limited else title
