"""Intervals of real flows from the network's samples, by arithmetic."""

from pathlib import Path

import pyarrow as pa
import pytest

from longhaul.analysis.network_flows import connections
from longhaul.results.network_counts import NetworkCounts, read_counts
from longhaul.results.raw_tables import Records

COUNTS = (
    "flow,protocol,source,source_port,destination,destination_port,first_ns,last_ns,last_new_ns,"
    "last_acknowledged_ns,sent_packets,sent_bytes,payload_bytes,new_bytes,retransmitted_packets,"
    "retransmitted_bytes,acknowledged_bytes,delivered_packets,delivered_bytes,copied_packets,lost_packets,"
    "overflowed_packets,dropped_packets,down_packets,no_route_packets,ttl_expired_packets,too_big_packets,"
    "answered_packets,pacer_dropped_packets,filtered_packets,looped_packets\n"
)
ZEROS = ",0" * 11
SAMPLES = (
    "t_ns,flow,sent_packets,payload_bytes,retransmitted_packets,acknowledged_bytes,delivered_packets,"
    "delivered_bytes,ended_packets\n"
)
MS = 10**6
PLAN = {"nodes": [{"name": "a", "ipv4": "10.0.0.1"}, {"name": "b", "ipv4": "10.0.0.2"}]}


@pytest.fixture
def counts(tmp_path: Path) -> NetworkCounts:
    """A connection that begins at 50 ms, carries 30 kB, rests from 200 to 500 ms, and carries 10 kB more."""
    raw = tmp_path / "raw"
    raw.mkdir()
    data = (
        f"1,6,10.0.0.1,40000,10.0.0.2,5201,{50 * MS},{600 * MS},{600 * MS},,40,0,41000,40000,1,1000,0,40,0,0"
    )
    answers = f"2,6,10.0.0.2,5201,10.0.0.1,40000,{55 * MS},{600 * MS},,{600 * MS},9,0,0,0,0,0,40001,9,0,0"
    (raw / "flow_counts.csv").write_text(f"{COUNTS}{data}{ZEROS}\n{answers}{ZEROS}\n")
    sent = ((100, 10_000, 0), (200, 31_000, 1), (600, 41_000, 1))
    acknowledged = ((100, 10_000), (200, 30_000), (600, 40_001))
    rows = [f"{t * MS},1,0,{payload},{again},0,0,0,0" for t, payload, again in sent]
    rows += [f"{t * MS},2,0,0,0,{count},0,0,0" for t, count in acknowledged]
    (raw / "flow_samples.csv").write_text(SAMPLES + "\n".join(rows) + "\n")
    sockets = pa.table(
        {
            "t_ns": [100 * MS, 200 * MS],
            "local": ["10.0.0.1:40000"] * 2,
            "remote": ["10.0.0.2:5201"] * 2,
            "cc": ["reno", "cubic"],
            "cwnd_segments": [10, 20],
            "rtt_ns": [0, 12 * MS],
        }
    )
    found = read_counts(Records(tmp_path), PLAN, sockets)
    assert found is not None
    return found


def test_intervals_carry_all_bytes_and_a_pause_is_an_interval_of_its_own(counts: NetworkCounts) -> None:
    (connection,) = counts.connections("a", "b", 5201)
    rows = counts.intervals(connection, stream=0, every_ns=100 * MS)
    spans = [(round(row["start_s"] * 1e3), round(row["end_s"] * 1e3)) for row in rows]
    assert spans == [(50, 100), (100, 200), (200, 500), (500, 600)]
    carried = [round(row["bits_per_s"] * (row["end_s"] - row["start_s"]) / 8) for row in rows]
    # The FIN's byte is not payload.
    assert carried == [10_000, 20_000, 0, 10_000]
    assert [row["retransmits"] for row in rows] == [0, 1, 0, 0]


def test_windows_and_round_trips_are_the_kernel_s_where_it_has_any(counts: NetworkCounts) -> None:
    (connection,) = counts.connections("a", "b", 5201)
    rows = counts.intervals(connection, stream=0, every_ns=100 * MS)
    assert [row["window_segments"] for row in rows] == [10, 20, None, None]
    assert [row["rtt_ns"] for row in rows] == [None, 12 * MS, None, None], "a round trip of 0 is none"


def test_payload_between_hosts_counts_once_however_often_it_was_sent(counts: NetworkCounts) -> None:
    assert counts.payload_bytes("a", "b") == 40_000
    assert counts.payload_bytes("b", "a") == 0
    assert connections(counts.rows, source="10.0.0.2", destination="10.0.0.1", port=5201) == []


def test_a_run_of_an_older_version_has_no_counts(tmp_path: Path) -> None:
    assert read_counts(Records(tmp_path), PLAN, None) is None


def test_the_algorithm_of_a_connection_is_the_one_selected_last(counts: NetworkCounts) -> None:
    # iperf3 connects with the default of its host and selects the flow's algorithm afterwards.
    assert counts.algorithms(counts.connections("a", "b", 5201)) == ["cubic"]
