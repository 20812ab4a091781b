"""What is said of transfers of which not every sender has."""

from typing import Any

from longhaul.results import request_flows

EMPTY: dict[str, Any] = {"cdf": [], "count": 0}
ROWS = [
    {
        "name": "list",
        "kind": "replay",
        "program": f"list.{source}.{to}",
        "generator": f"list.{source}",
        "from": source,
        "to": to,
        "cc": None,
        "start_ns": 0,
        "volume_bytes": 1000,
    }
    for source, to in (("a", "b"), ("a", "c"), ("b", "c"))
]


def said(size: int, *, failed: int = 0) -> dict[str, Any]:
    """The report of a sender that ended after a second."""
    return {
        "done": 1,
        "done_ns": 10**9,
        "end_ns": 10**9,
        "bytes": size,
        "bytes_sent": size,
        "segments_sent": 1,
        "retransmits": 0,
        "failed": failed,
        "error": "No route to host" if failed else None,
        "took": EMPTY,
    }


def test_a_list_has_ended_when_each_of_its_senders_says_so() -> None:
    # Hosts a and b send; a has two of the three pairs.
    found = request_flows.total(ROWS, [said(2000), said(1000)], duration_ns=None)
    assert (found["end_ns"], found["error"], found["volume_bytes"]) == (10**9, None, 3000)
    assert found["goodput_bits_per_s"] == 3000 * 8


def test_a_sender_without_a_report_is_no_success() -> None:
    found = request_flows.total(ROWS, [said(2000)], duration_ns=4 * 10**9)
    assert found["error"] == "1 of 2 senders left no report"
    assert found["end_ns"] is None
    assert found["goodput_bits_per_s"] == 2000 * 8 / 4
    found = request_flows.total(ROWS, [said(2000, failed=3)], duration_ns=4 * 10**9)
    assert found["error"] == "1 of 2 senders left no report; 3 connections gave up: No route to host"
    assert request_flows.total(ROWS[:1], [], duration_ns=10**9)["error"] == "left no report"
