"""Throughput and lateness of a relay over time: nothing is lost, however messages come and bins widen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.relay_series import (
    FIRST_BIN_NS,
    MOST_BINS,
    MOST_CONNECTIONS,
    Connection,
    Direction,
    Messages,
    RelaySeries,
)

Row = tuple[int, int, int, int]

WANTED_NS = 5_000_000


def messages(rows: list[Row]) -> Messages:
    """Of ``(connection, out_ns, late_ns, bytes)``; odd connections go from 0 to 1, others back."""
    connection, out, late, size = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    source = 1 - connection % 2
    wanted = np.full(len(rows), WANTED_NS)
    return Messages(connection, source, 1 - source, out - wanted - late, wanted, out, size)


ROWS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 10**12), st.integers(0, 10**9), st.integers(1, 65_536)),
    min_size=1,
    max_size=60,
)


@given(ROWS, st.integers(0, 60))
def test_every_byte_is_in_one_bin_however_the_log_is_read(rows: list[Row], cut: int) -> None:
    whole, parts = RelaySeries(), RelaySeries()
    whole.add(messages(rows))
    for part in (rows[:cut], rows[cut:]):
        if part:
            parts.add(messages(part))
    assert (whole.bin_ns, whole.bins) == (parts.bin_ns, parts.bins)
    assert whole.bins <= MOST_BINS
    for one, other in ((whole.bytes_of, parts.bytes_of), (whole.connections, parts.connections)):
        lists = [{tuple(key): each.tolist() for key, each in found.items()} for found in (one, other)]
        assert lists[0] == lists[1]
        assert sum(map(sum, lists[0].values())) == sum(row[3] for row in rows)
    np.testing.assert_array_equal(whole.lateness_ns(0.5), parts.lateness_ns(0.5))
    for connection, out_ns, _late_ns, size in rows:
        source = 1 - connection % 2
        mine = whole.connections[Connection(connection, source, 1 - source)]
        assert mine[out_ns // whole.bin_ns] >= size


def test_a_rate_is_that_of_its_bin_and_lateness_is_told_to_six_percent() -> None:
    series = RelaySeries()
    # 1000 messages of 1000 bytes in each of two bins, from 0.01 to 10 ms late; then one bin is empty.
    late = np.geomspace(1e4, 1e7, 1000).astype(int).tolist()
    for start_ns in (0, FIRST_BIN_NS, 3 * FIRST_BIN_NS):
        times = np.linspace(0, FIRST_BIN_NS - 1, 1000).astype(int) + start_ns
        series.add(messages([(1, int(t), each, 1000) for t, each in zip(times, late, strict=True)]))
    rate = series.bits_per_s(series.bytes_of[Direction(0, 1)])
    assert rate.tolist() == pytest.approx([8e7, 8e7, 0, 8e7])
    for share in (0.5, 0.99):
        found = series.lateness_ns(share)
        assert np.isnan(found).tolist() == [False, False, True, False]
        assert found[0] == pytest.approx(np.quantile(late, share), rel=0.06)
    assert series.middles_s.tolist() == pytest.approx([0.05, 0.15, 0.25, 0.35])


def test_of_very_many_connections_the_busiest_are_kept() -> None:
    series = RelaySeries()
    for first in range(0, 20_000, 2000):
        # The last of each thousand carries most.
        numbers = range(first, first + 2000)
        series.add(messages([(1 + each, 10**6 * each, 0, 1 + each % 1000) for each in numbers]))
    assert len(series.connections) <= 2 * MOST_CONNECTIONS
    assert {int(each.sum()) for _key, each in series.busiest(20)} == {1000}
    assert sum(int(each.sum()) for each in series.bytes_of.values()) == sum(range(1, 1001)) * 20


def test_a_relay_that_was_idle_at_its_end_carried_nothing_then() -> None:
    found = RelaySeries()
    found.add(messages([(1, 50_000_000, 0, 1_000)]))
    found.extend(1_000_000_000)
    assert found.bins == 11
    (rates,) = (found.bits_per_s(count) for count in found.bytes_of.values())
    assert rates.tolist() == [8e4, *[0.0] * 10]
    found.extend(0)
    assert found.bins == 11
