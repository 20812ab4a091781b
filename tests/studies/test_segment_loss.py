"""The benchmark of single segments and super-packets: its link in both languages, and its counts."""

from pathlib import Path

import pytest

from longhaul.oracle.api import accept
from longhaul.scenario import parse_scenario, resolve

BENCH = Path(__file__).parents[2] / "bench"
SNMP = """Tcp: RtoAlgorithm OutSegs RetransSegs
Tcp: 1 {new} {retransmitted}
TcpExt: SyncookiesSent TCPSackRecovery TCPLossProbeRecovery TCPTimeouts
TcpExt: 0 {recoveries} {probes} {timeouts}
"""


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


@pytest.mark.parametrize("rated", [False, True])
def test_the_link_loses_data_and_no_acknowledgement(rated: bool) -> None:
    from segment_loss import LOSS, QUEUE_PACKETS, RATE_MBIT, netem, scenario

    resolved = resolve(parse_scenario(scenario(seed=1, rated=rated, real=True).encode(), name="loss"))
    accept(resolved)
    there, back = (resolved.plan["links"][0][way] for way in ("forward", "reverse"))
    assert there["loss"] == {"model": "independent", "probability": LOSS}
    assert back["loss"] == {"model": "none"}
    for way in (there, back):
        assert way["delay"] == {"model": "constant", "delay_ns": 20_000_000}
    if rated:
        assert there["rate"] == {"model": "constant", "bits_per_s": RATE_MBIT * 10**6}
        assert there["queue"]["limit_packets"] == QUEUE_PACKETS == RATE_MBIT * 10**6 * 0.04 // (8 * 1500)
    forward, reverse = (stage.commands[0] for stage in netem(rated=rated))
    assert "delay 20ms loss 0.050000%" in forward
    assert ("rate 100mbit -14" in forward) == rated
    assert "loss" not in reverse


def test_counts_are_those_of_the_senders_kernel_after_the_warm_up(tmp_path: Path) -> None:
    from segment_loss import SegmentCounts, segment_counts

    before = SNMP.format(new=1_000, retransmitted=7, recoveries=2, probes=0, timeouts=1)
    after = SNMP.format(new=1_090, retransmitted=17, recoveries=5, probes=1, timeouts=2)
    for name, text in (("before", before), ("after", after)):
        (tmp_path / f"{name}.out").write_text(text, encoding="utf-8")
    # 3 recoveries, 1 of a tail loss, 1 timeout.
    found = segment_counts(tmp_path)
    assert found == SegmentCounts(new=90, retransmitted=10, events=5)
    assert found.sent == 100


def test_the_goodput_is_that_of_new_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    import segment_loss

    monkeypatch.setattr(segment_loss, "WARM_UP_S", 5)
    monkeypatch.setattr(segment_loss, "SECONDS", 15)
    # 10,000 segments of 1448 bytes in 10 s.
    counts = segment_loss.SegmentCounts(new=10_000, retransmitted=99, events=9)
    assert counts.goodput_mbit == pytest.approx(11.584)


def test_figures_are_means_and_their_intervals() -> None:
    from segment_loss import MSS_BITS, SECONDS, SYSTEMS, WARM_UP_S, SegmentCounts, rows_of

    def flow(sent: int, retransmitted: int) -> SegmentCounts:
        return SegmentCounts(new=sent - retransmitted, retransmitted=retransmitted, events=5)

    two = [flow(1_000, 10), flow(2_000, 20)]
    rows = rows_of(dict.fromkeys(SYSTEMS, two) | {"virtual": [flow(2_000, 20)] * 2})
    found = {}
    system = ""
    for each in rows:
        is_more = each["what"].startswith("  ")
        system = system if is_more else each["what"]
        found[system, each["what"].strip() if is_more else "goodput"] = each
    gso = SYSTEMS["gso"]
    per_segment = MSS_BITS / (SECONDS - WARM_UP_S) / 1e6
    assert found[gso, "goodput"]["value"] == pytest.approx(1_485 * per_segment)
    # Student's t of one degree of freedom: 12.7; the standard error of 990 and 1,980 is 495.
    assert found[gso, "95 % interval"]["value"] == pytest.approx(12.706 * 495 * per_segment, rel=1e-3)
    assert found[gso, "segments lost of those sent"]["value"] == pytest.approx(1)
    assert found[gso, "loss events of segments sent"]["value"] == pytest.approx((0.5 + 0.25) / 2)
    assert found[gso, "segments lost in a loss event"]["value"] == 3
    off = "off netem's without GSO by"
    assert found[SYSTEMS["simulated"], off]["met"]
    assert not found[SYSTEMS["virtual"], off]["met"]
    assert found[SYSTEMS["virtual"], off]["value"] == pytest.approx(100 * (1_980 / 1_485 - 1))
