"""The Longcut study: what it makes of the paper's tables, and what its SOR sends."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "studies"


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (FOLDER, FOLDER / "longcut"):
        monkeypatch.syspath_prepend(str(folder))


def test_the_widest_asymmetry_of_latency_between_sites_is_that_of_psgw_and_clustis() -> None:
    import tables

    latency, _rate = tables.means()
    by_pair = tables.asymmetry(latency["nws"])
    del by_pair["psgw", "vvgw"]
    assert max(by_pair, key=by_pair.__getitem__) == ("clustis", "psgw")
    assert by_pair["clustis", "psgw"] == pytest.approx(17.88 / 15.03 - 1)


def test_the_trace_of_steps_is_what_arithmetic_says() -> None:
    import agreement

    # Step 2: (36 + 36) / 4 ms, and 65,536 bytes at 5 and at 6 Mbit/s, half of both.
    bits = 65_536 * 8e-3
    assert agreement.expected()[1, 65_536] == pytest.approx(18 + (bits / 5 + bits / 6) / 2)


def test_workers_send_a_row_each_way_twice_an_iteration_and_a_sum(tmp_path: Path) -> None:
    import relaxation

    literal, consistent = relaxation.PRESETS
    for preset, size in ((literal, 19_800), (consistent, 24_000 * 8)):
        preset.record(0.5, tmp_path / "sor.csv")
        lines = (tmp_path / "sor.csv").read_text().splitlines()[2:]
        rows = [line.split(",") for line in lines if line.startswith("5,")]
        sent = [int(amount) for _rank, do, _with, amount in rows if do == "send"]
        assert sent.count(size) == 2 * 2 * relaxation.ITERATIONS
        assert set(sent) == {size, 8}
        computing = sum(int(amount) for _rank, do, _with, amount in rows if do == "compute")
        assert computing == pytest.approx(0.5e9 * relaxation.ITERATIONS, rel=1e-6)


def test_sums_cross_between_sub_clusters_by_one_worker_of_each(tmp_path: Path) -> None:
    import relaxation

    relaxation.PRESETS[0].record(0.0, tmp_path / "sor.csv")
    rows = [line.split(",") for line in (tmp_path / "sor.csv").read_text().splitlines()[2:]]
    across = {
        int(rank)
        for rank, do, other, amount in rows
        if do == "send" and amount == "8" and int(rank) // 10 != int(other) // 10
    }
    assert across == {0, 10, 20, 30}


def test_netem_plays_the_trace_with_a_change_of_each_direction_each_second() -> None:
    import reality

    link, events = reality.changes(6)
    assert link.startswith("forward: {delay: ")
    assert "reverse: {delay: " in link
    assert len(events) == 2 * (reality.START_S + 6 - 1)
    delays = [int(each.partition("delay: ")[2].partition("us")[0]) for each in events]
    assert all(delay % 8 == 0 for delay in delays)
    # Half of the round trip of 15 to 17 ms between Tromsø and Trondheim.
    assert 6_000 < sum(delays) / len(delays) < 12_000
