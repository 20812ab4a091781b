"""What iperf3's report says of a flow."""

import pytest

from longhaul.run.logs import flow_totals

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
