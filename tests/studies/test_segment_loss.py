"""The benchmark of single segments and super-packets: its link in both languages, and its counts."""

from pathlib import Path

import pytest

from longhaul.oracle.api import accept
from longhaul.scenario import parse_scenario, resolve

BENCH = Path(__file__).parents[2] / "bench"
SNMP = """Tcp: RtoAlgorithm OutSegs RetransSegs
Tcp: 1 90 10
TcpExt: SyncookiesSent TCPSackRecovery TCPLossProbeRecovery TCPTimeouts
TcpExt: 0 3 1 1
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


def test_counts_are_those_of_the_senders_kernel(tmp_path: Path) -> None:
    from segment_loss import Met, met

    (tmp_path / "counters.out").write_text(SNMP, encoding="utf-8")
    # 90 segments with new data and 10 retransmissions; 3 recoveries, 1 of a tail loss, 1 timeout.
    assert met(tmp_path, 21e6) == Met(goodput_mbit=21.0, sent=100, retransmitted=10, events=5)


def test_figures_are_means_and_their_intervals() -> None:
    from segment_loss import SYSTEMS, Met, rows_of

    two = [Met(20, 1_000, 10, 5), Met(24, 2_000, 20, 5)]
    rows = rows_of(dict.fromkeys(SYSTEMS, two) | {"virtual": [Met(25, 1_000, 10, 5)] * 2})
    found = {}
    system = ""
    for each in rows:
        is_more = each["what"].startswith("  ")
        system = system if is_more else each["what"]
        found[system, each["what"].strip() if is_more else "goodput"] = each
    gso = SYSTEMS["gso"]
    assert found[gso, "goodput"]["value"] == 22
    # Student's t of one degree of freedom: 12.7; the standard error of 20 and 24 is 2.
    assert found[gso, "95 % interval"]["value"] == pytest.approx(12.706 * 2, rel=1e-3)
    assert found[gso, "segments lost of those sent"]["value"] == pytest.approx(1)
    assert found[gso, "loss events of segments sent"]["value"] == pytest.approx((0.5 + 0.25) / 2)
    assert found[gso, "segments lost in a loss event"]["value"] == 3
    off = "off netem's without GSO by"
    assert found[SYSTEMS["simulated"], off]["met"]
    assert not found[SYSTEMS["virtual"], off]["met"]
    assert found[SYSTEMS["virtual"], off]["value"] == pytest.approx(100 * 3 / 22)
