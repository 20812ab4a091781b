"""What a relay carried over time, and how late, from its log of messages: bounded, however long it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from longhaul.analysis.lateness import quantile_ns

Array = np.ndarray[Any, Any]

MOST_BINS = 300
"""When there are more, each two become one of twice their width."""
FIRST_BIN_NS = 100_000_000
MOST_CONNECTIONS = 512
"""Whose bytes are kept over time: those that carried most so far."""
_CLASSES = 160
BOUNDS_NS = np.array([0.0, *np.geomspace(1e3, 1e11, _CLASSES)])
"""Of the classes of lateness, twenty for each power of ten; percentiles are interpolated within theirs."""


class Direction(NamedTuple):
    """Clusters by their numbers in the plan."""

    source: int
    target: int


class Connection(NamedTuple):
    """One way of a connection, by its number."""

    serial: int
    source: int
    target: int


class Messages(NamedTuple):
    """Columns of the log, a row for each message."""

    connection: Array
    source: Array
    target: Array
    in_ns: Array
    wanted_ns: Array
    out_ns: Array
    bytes: Array


@dataclass
class RelaySeries:
    """Bytes by direction and of the busiest connections, and lateness of all messages, in bins of time."""

    bin_ns: int = FIRST_BIN_NS
    until_ns: int = 0
    """What is known until then: when the latest message left, or the relay ended."""
    bytes_of: dict[Direction, Array] = field(default_factory=dict)
    connections: dict[Connection, Array] = field(default_factory=dict)
    _late: Array = field(default_factory=lambda: np.zeros((MOST_BINS, _CLASSES), dtype=np.int64))

    @property
    def bins(self) -> int:
        """How many there are, up to what is known."""
        return self.until_ns // self.bin_ns + 1 if self.bytes_of else 0

    @property
    def middles_s(self) -> Array:
        """When each bin was half over."""
        found: Array = (np.arange(self.bins) + 0.5) * self.bin_ns / 1e9
        return found

    def bits_per_s(self, count: Array) -> Array:
        """Bytes of each bin as a rate. The last bin lasted as long as is known."""
        lasted_ns = np.full(self.bins, float(self.bin_ns))
        lasted_ns[-1:] = max(self.until_ns % self.bin_ns, self.bin_ns // 10)
        found: Array = count[: self.bins] * 8e9 / lasted_ns
        return found

    def lateness_ns(self, share: float) -> Array:
        """A quantile of the lateness of each bin's messages; NaN where there was none."""
        up_to = np.cumsum(self._late[: self.bins], axis=1)
        return quantile_ns(share, up_to[:, -1], up_to, BOUNDS_NS)

    def extend(self, until_ns: int) -> None:
        """Know that nothing else left until then."""
        self.until_ns = max(self.until_ns, until_ns)
        while self.until_ns // self.bin_ns >= MOST_BINS:
            self._widen()

    def add(self, more: Messages) -> None:
        """Take in messages, in any order."""
        if not len(more.out_ns):
            return
        self.extend(int(more.out_ns.max()))
        places = more.out_ns // self.bin_ns
        late_ns = np.maximum(more.out_ns - more.in_ns - more.wanted_ns, 0)
        classes = np.clip(np.searchsorted(BOUNDS_NS[1:], late_ns), 0, _CLASSES - 1)
        self._late += np.bincount(places * _CLASSES + classes, minlength=MOST_BINS * _CLASSES).reshape(
            MOST_BINS, _CLASSES
        )
        _count(self.bytes_of, Direction, (more.source, more.target), places, more.bytes, most=None)
        ways = (more.connection, more.source, more.target)
        _count(self.connections, Connection, ways, places, more.bytes, most=MOST_CONNECTIONS)
        if len(self.connections) > 2 * MOST_CONNECTIONS:
            self.connections = dict(self.busiest(MOST_CONNECTIONS))

    def busiest(self, most: int) -> list[tuple[Connection, Array]]:
        """The ways of connections that carried most so far."""
        return sorted(self.connections.items(), key=lambda item: -int(item[1].sum()))[:most]

    def _widen(self) -> None:
        self.bin_ns *= 2
        self._late = _halved(self._late)
        self.bytes_of = {key: _halved(each) for key, each in self.bytes_of.items()}
        self.connections = {key: _halved(each) for key, each in self.connections.items()}


def _halved(bins: Array) -> Array:
    """Each two bins as one, and empty ones behind them."""
    found = np.zeros_like(bins)
    found[: len(bins) // 2] = bins[0::2] + bins[1::2]
    return found


Key = TypeVar("Key", Direction, Connection)


def _count(
    counts: dict[Key, Array],
    key: Callable[..., Key],
    columns: Sequence[Array],
    places: Array,
    sizes: Array,
    *,
    most: int | None,
) -> None:
    """Add sizes to the bins of their keys; of new keys only to the ``most`` that have the greatest sum."""
    # One number for each key, as sorting those is fast.
    numbers = np.ravel_multi_index(columns, [int(each.max()) + 1 for each in columns])
    _keys, first, at = np.unique(numbers, return_index=True, return_inverse=True)
    fields = (column[first].tolist() for column in columns)
    names: list[Key] = [key(*each) for each in zip(*fields, strict=True)]
    by_sum: list[int] = np.argsort(-np.bincount(at, weights=sizes), kind="stable").tolist()
    new: list[int] = [number for number in by_sum if names[number] not in counts][:most]
    counted = [*(number for number in by_sum if names[number] in counts), *new]
    rows = np.full(len(names), -1)
    rows[counted] = np.arange(len(counted))
    row = rows[at]
    is_counted = row >= 0
    flat = np.bincount(
        row[is_counted] * MOST_BINS + places[is_counted],
        weights=sizes[is_counted],
        minlength=len(counted) * MOST_BINS,
    )
    sums = flat.astype(np.int64).reshape(-1, MOST_BINS)
    for number, more in zip(counted, sums, strict=True):
        counts[names[number]] = counts.get(names[number], 0) + more
