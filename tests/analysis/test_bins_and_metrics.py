"""Bins without gaps, congestion events, and what Prometheus reads."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from longhaul.analysis.bins import envelope, fullest, series
from longhaul.analysis.sockets import congestion_events, summarise_sockets
from longhaul.results.growing_files import Tail
from longhaul.results.monitor_tables import write_tables
from longhaul.results.raw_tables import Records
from longhaul.run.metrics import Family, connections, render


def test_bins_without_a_row_are_zero() -> None:
    table = {
        "start_ns": np.array([1_000, 4_000, 4_000]),
        "link": np.array(["wan", "wan", "lan"]),
        "way": np.array(["forward"] * 3),
        "offered_bytes": np.array([7, 9, 5]),
    }
    dense = series(table, link="wan", way="forward", every_ns=1_000)
    assert dense["start_ns"].tolist() == [0, 1_000, 2_000, 3_000, 4_000]
    assert dense["offered_bytes"].tolist() == [0, 7, 0, 0, 9]
    assert not len(series(table, link="lan", way="reverse", every_ns=1_000)["start_ns"])


def test_an_envelope_keeps_extremes_and_the_fullest_part_is_found() -> None:
    values = np.array([1, 5, 2, 2, 9, 0, 3])
    least, mean, most = envelope(values, columns=3)
    assert (least.tolist(), mean.tolist(), most.tolist()) == ([1, 2, 0], [3, 2, 4.5], [5, 2, 9])
    assert fullest(values, width=2) == slice(3, 5)
    assert fullest(values, width=10) == slice(0, 7)


def test_a_smaller_window_or_a_retransmission_is_an_event() -> None:
    samples = {
        "t_ns": [0, 1, 2, 3],
        "cwnd_segments": [10, 12, 6, 7],
        "retransmits": [0, 0, 1, 3],
    }
    assert congestion_events(samples) == [
        {"t_ns": 2, "from_segments": 12, "to_segments": 6, "retransmits": 1},
        {"t_ns": 3, "from_segments": 6, "to_segments": 7, "retransmits": 2},
    ]


def test_only_ends_that_sent_are_summarised() -> None:
    columns = {
        "t_ns": [0, 0, 5, 5],
        "host": ["a", "b", "a", "b"],
        "socket": [1, 1, 1, 1],
        "local": ["x", "y", "x", "y"],
        "remote": ["y", "x", "y", "x"],
        "cc": ["reno"] * 4,
        "cwnd_segments": [10, 10, 5, 10],
        "rtt_ns": [20, 0, 40, 0],
        "retransmits": [0, 0, 2, 0],
        "sent_bytes": [100, 0, 900, 0],
    }
    (only,) = summarise_sockets(columns)
    assert (only["host"], only["sent_bytes"], only["rtt_mean_ns"], only["reductions"]) == ("a", 900, 30, 1)


def test_metrics_are_written_as_the_format_says() -> None:
    family = Family("longhaul_x_total", "counter", "Two\nlines.")
    family.add(3, link='a"b\\c')
    family.add(0.25)
    empty = Family("longhaul_nothing", "gauge", "Nothing.")
    assert render([family, empty]) == (
        "# HELP longhaul_x_total Two\\nlines.\n"
        "# TYPE longhaul_x_total counter\n"
        'longhaul_x_total{link="a\\"b\\\\c"} 3\n'
        "longhaul_x_total 0.25\n"
    )


def test_a_line_that_is_being_written_is_read_later(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    tail = Tail(path, "link")
    tail.read()
    assert tail.rows == []
    path.write_text("t_ns,link\n1,a\n1,b\n2,")
    tail.read()
    assert tail.rows == [{"t_ns": "1", "link": "a"}, {"t_ns": "1", "link": "b"}]
    with path.open("a") as file:
        file.write("a\n")
    tail.read()
    assert {row["link"]: row["t_ns"] for row in tail.rows} == {"a": "2", "b": "1"}
    assert tail.before({"link": "a"}) == {"t_ns": "1", "link": "a"}
    tail.forget(2)
    assert [row["link"] for row in tail.rows] == ["a"]


def test_a_port_that_comes_again_has_one_sample(tmp_path: Path) -> None:
    path = tmp_path / "sockets.csv"
    names = ["t_ns", "host", "socket", "local", "remote", "cc", "cwnd_segments", "rtt_us", "retransmits"]
    # The later connection between the same ends has the lower number, and is read first.
    rows = [
        "2,a,7,x:1,y:2,reno,10,0,0,0",
        "1,a,9,x:1,y:2,reno,44,5000,3,900",
        "2,a,7,x:1,y:2,reno,20,8000,1,5",
    ]
    path.write_text("\n".join([",".join([*names, "sent_bytes"]), *rows]) + "\n")
    tail = Tail(path, "host", "socket")
    tail.read()
    lines = render(connections(tail)).splitlines()
    labels = 'host="a",local="x:1",remote="y:2",cc="reno"'
    assert [line for line in lines if not line.startswith("#")] == [
        f"longhaul_tcp_congestion_window_segments{{{labels}}} 20",
        f"longhaul_tcp_rtt_seconds{{{labels}}} 0.008",
        f"longhaul_tcp_retransmits_total{{{labels}}} 1",
    ]


def test_a_round_trip_that_was_not_measured_yet_is_not_zero(tmp_path: Path) -> None:
    header = (
        "t_ns,host,socket,local,remote,state,cc,cwnd_segments,ssthresh_segments,rtt_us,rttvar_us,min_rtt_us,"
    )
    header += "rto_us,retransmits,delivery_bits_per_s,sent_bytes\n"
    # As TCP_INFO has it after the SYN, and after the first acknowledgement.
    before = f"1,a,7,x:1,y:2,syn-sent,reno,10,,0,0,{2**32 - 1},1000000,0,0,1\n"
    after = "2,a,7,x:1,y:2,established,reno,10,,8000,4000,8000,208000,0,0,900\n"
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "sockets.csv").write_text(header + before + after)
    told = write_tables(Records(tmp_path), None)
    table = pq.read_table(tmp_path / "sockets.parquet").to_pydict()
    assert [table[name] for name in ("rtt_ns", "min_rtt_ns")] == [[None, 8_000_000]] * 2
    assert table["rto_ns"] == [1_000_000_000, 208_000_000]
    assert told["sockets"][0]["rtt_mean_ns"] == 8_000_000
    tail = Tail(tmp_path / "raw" / "sockets.csv", "host", "socket")
    (tmp_path / "raw" / "sockets.csv").write_text(header + before)
    tail.read()
    assert "longhaul_tcp_rtt_seconds" not in render(connections(tail))
