"""The objectives of a transport service, by the arithmetic of its experiment.

Two transfers into one link: TS_1 shares it, both at half its rate from 0 on; TS_2 serves them one after the
other at the whole rate.
"""

import pytest

from longhaul.analysis.transfers import Transfer, f1_s, f2, f2_literal, summarise_transfers

GIGABIT = 10**9


@pytest.mark.parametrize(
    ("volume", "shared_s", "alone_s"),
    [(500e9, 8000, 4000), (500e6, 8, 4), (3.75e9, 60, 30)],
    ids=["literal", "working", "the most that fits"],
)
def test_sharing_uses_the_link_as_well_and_serialising_is_done_sooner(
    volume: float, shared_s: float, alone_s: float
) -> None:
    shared = [Transfer(0, shared_s, volume)] * 2
    in_turn = [Transfer(0, alone_s, volume), Transfer(alone_s, 2 * alone_s, volume)]
    assert [each.bits_per_s for each in shared] == [GIGABIT / 2] * 2
    assert [each.bits_per_s for each in in_turn] == [GIGABIT] * 2
    assert (f1_s(shared), f1_s(in_turn)) == (shared_s, alone_s)
    # As printed it adds rates that were not there at one time.
    assert f2_literal(shared, GIGABIT) == pytest.approx(1)
    assert f2_literal(in_turn, GIGABIT) == pytest.approx(2)
    assert f2(shared, GIGABIT) == pytest.approx(1)
    assert f2(in_turn, GIGABIT) == pytest.approx(1)


def test_a_pause_between_transfers_is_not_used() -> None:
    transfers = [Transfer(0, 4, 500e6), Transfer(6, 10, 500e6)]
    assert f2(transfers, GIGABIT) == pytest.approx(0.8)


def flow(**fields: object) -> dict:
    times = {"start_ns": 0, "end_ns": 8 * 10**9, "volume_bytes": 500_000_000}
    return {"kind": "tcp", "bytes": 500_000_000, **times, **fields}


def test_a_summary_needs_a_volume_of_every_tcp_flow() -> None:
    found = summarise_transfers([flow(), flow(), flow(kind="udp", volume_bytes=None)], GIGABIT)
    assert found is not None
    assert (found["f1_ns"], found["f2"], found["f2_literal"]) == (
        8 * 10**9,
        pytest.approx(1),
        pytest.approx(1),
    )
    assert summarise_transfers([flow(), flow(volume_bytes=None)], GIGABIT) is None
    assert summarise_transfers([], GIGABIT) is None


def test_before_all_have_ended_there_is_no_objective() -> None:
    found = summarise_transfers([flow(), flow(end_ns=None)], GIGABIT)
    assert found is not None
    assert (found["transfers"], found["ended"], found["f1_ns"], found["f2"]) == (2, 1, None, None)


def test_without_a_shared_rate_there_is_no_use_of_it() -> None:
    found = summarise_transfers([flow()], None)
    assert found is not None
    assert (found["f1_ns"], found["f2"]) == (8 * 10**9, None)
