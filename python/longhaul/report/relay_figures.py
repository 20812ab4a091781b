"""The chart of a relay: what it carried over time, and how late."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.relay_delays import LATENESS_P99_NS
from longhaul.analysis.relay_series import Connection, Direction, RelaySeries
from longhaul.report.chart import Array, Axis, Chart, Level, Panel, Series, column, left_out_text
from longhaul.report.colours import MUTED, SERIES
from longhaul.report.over_time import with_marks
from longhaul.units.text import time_text

Json = Mapping[str, Any]

_QUANTILES = (("median", 0.5), ("p99", 0.99))


def over_time(found: RelaySeries, clusters: Sequence[str], changes: Sequence[Json] = ()) -> Chart | None:
    """Throughput by direction and of the busiest connections, and lateness; ``None`` without messages."""
    if not found.bins:
        return None
    by_volume = sorted(found.bytes_of.items(), key=lambda item: -int(item[1].sum()))
    directions = [(_way(key, clusters), count) for key, count in by_volume[: len(SERIES)]]
    busiest = found.busiest(len(SERIES))
    connections = [(f"{key.serial}: {_way(key, clusters)}", count) for key, count in busiest]
    end_ns = max(found.bins * found.bin_ns, *(each["until_ns"] for each in changes), 0)
    time = Axis("time [s]", low=0.0, high=end_ns / 1e9)
    panels = [
        _rates("directions", time, found, directions, len(found.bytes_of), "directions"),
        _rates(
            "connections, by number", time, found, connections, len(found.connections), "ways of connections"
        ),
        Panel(
            "lateness",
            time,
            Axis("lateness [µs]", is_logarithmic=True),
            [
                _late(name, colour, found.middles_s, found.lateness_ns(share) / 1e3)
                for (name, share), colour in zip(_QUANTILES, SERIES, strict=False)
            ],
            levels=[Level(LATENESS_P99_NS / 1e3, MUTED, f"limit of p99: {time_text(LATENESS_P99_NS)}")],
        ),
    ]
    return Chart(
        "relayed",
        "throughput and lateness of a relay over time",
        column(with_marks(panels, changes)),
        height_in=5.6,
        legend="inside",
    )


def _way(key: Direction | Connection, clusters: Sequence[str]) -> str:
    return f"{clusters[key.source]} > {clusters[key.target]}"


def _rates(
    title: str, time: Axis, found: RelaySeries, counts: Sequence[tuple[str, Array]], every: int, what: str
) -> Panel:
    series = [
        Series(name, colour, found.middles_s, found.bits_per_s(count) / 1e6)
        for (name, count), colour in zip(counts, SERIES, strict=False)
    ]
    note = left_out_text(every, len(counts), f"The {{shown}} of {{every}} {what} that carried most")
    return Panel(title, time, Axis("throughput [Mbit/s]", low=0.0), series, note=note)


def _late(name: str, colour: str, x: Array, late_us: Array) -> Series:
    """Signs, as messages may be rare, with a line through them."""
    known = ~np.isnan(late_us)
    return Series(name, colour, x[known], late_us[known], kind="discs", size=2.5, joined=True)
