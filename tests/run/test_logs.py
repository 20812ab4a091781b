"""What the logs of iperf3 and ping say."""

from pathlib import Path

import pytest

from longhaul.analysis.network_flows import EchoCounts
from longhaul.results.logs import flow_totals, read_ping

STREAM = {"socket": 5, "start": 0, "end": 1, "bits_per_second": 8e6, "retransmits": 0}
CLIENT = {
    "start": {"tcp_mss_default": 1448},
    "intervals": [{"streams": [{**STREAM, "rtt": rtt}]} for rtt in (10_000, 12_000, 12_000, 40_000)],
    "end": {
        "streams": [{"receiver": {"bits_per_second": 2e6}}],
        "sum_sent": {"bytes": 1_448_000, "seconds": 4.0, "bits_per_second": 2_896_000, "retransmits": 250},
    },
}
SERVER = {"end": {"sum_received": {"bytes": 1_448_000, "seconds": 4.5, "bits_per_second": 2_574_222}}}


def test_a_retransmission_counts_as_a_full_segment() -> None:
    found = flow_totals(CLIENT, SERVER)
    # 1,000 segments and 250 again, in 4 s.
    assert found["throughput_bits_per_s"] == pytest.approx(1250 * 1448 * 8 / 4)
    assert found["retransmission_rate"] == pytest.approx(250 / 1250)
    assert found["took_ns"] == 4_500_000_000


def test_round_trips_are_those_of_every_second() -> None:
    rtt = flow_totals(CLIENT, SERVER)["rtt"]
    assert (rtt["count"], rtt["p50_ns"], rtt["max_ns"]) == (4, 12_000_000, 40_000_000)
    assert rtt["mean_ns"] == pytest.approx(18.5e6)


def test_a_report_that_is_missing_says_nothing() -> None:
    found = flow_totals({"error": "no report"}, {})
    measured = ("throughput_bits_per_s", "retransmission_rate", "rtt", "took_ns", "goodput_bits_per_s")
    assert [found[name] for name in measured] == [None] * len(measured)


def ping_log(path: Path, *replies: tuple[int, float, float]) -> Path:
    """The log of a ping that was killed: no line with statistics. Sequence, s and ms of each reply."""
    lines = [f"[{at_s:.6f}] 64 bytes from 10.0.0.2: icmp_seq={seq} time={ms} ms" for seq, at_s, ms in replies]
    path.write_text("\n".join(["PING 10.0.0.2", *lines, ""]))
    return path


def test_a_ping_that_was_killed_over_a_dead_link_lost_what_the_network_counted(tmp_path: Path) -> None:
    log = ping_log(tmp_path / "probe.out", (1, 100.01, 10), (2, 101.01, 10))
    assert read_ping(log, 100 * 10**9).sent == 2, "all that the log knows"
    counted = EchoCounts(sent=8, received=2, lost=6, lost_down=6, first_ns=0)
    found = read_ping(log, 100 * 10**9, every_ns=10**9, counted=counted)
    assert (found.sent, found.lost, found.lost_down, len(found.rtt_ns)) == (8, 6, 6, 2)
    # The later ones left one interval after another.
    assert found.sent_ns == {seq: (seq - 1) * 10**9 for seq in range(1, 9)}


def test_a_ping_without_any_answer_was_sent_all_the_same(tmp_path: Path) -> None:
    counted = EchoCounts(sent=3, received=0, lost=3, lost_down=0, first_ns=5 * 10**6)
    found = read_ping(tmp_path / "none.out", 0, every_ns=10**8, counted=counted)
    assert found.sent_ns == {1: 5_000_000, 2: 105_000_000, 3: 205_000_000}
