"""What one can zoom into in a time/sequence graph: every byte, and every retransmission."""

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from embedded import embedded_charts, panels
from hypothesis import given
from hypothesis import strategies as st

import longhaul
from longhaul.analysis.segments import flows
from longhaul.report.sequence_figures import panel, sequences
from longhaul.report.sequence_points import thinned

LOSSY = """
version: 1
name: lossy
seed: 3
duration: 4s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit, loss: 1%}}
traffic: {there: {kind: tcp, from: a, to: b, cc: reno}}
measure: {packets: {links: [wan], window: 1s}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lossy")
    (place / "lossy.yaml").write_text(LOSSY)
    return longhaul.run_sim(place / "lossy.yaml", runs=place / "runs").directory


def recorded(run: Path) -> dict[str, np.ndarray]:
    columns = pq.read_table(run / "segments.parquet")
    table = {name: columns.column(name).to_numpy(zero_copy_only=False) for name in columns.column_names}
    (kinds,) = flows(table).values()
    return kinds


def made(steps: list[tuple[int, bool]]) -> dict[str, np.ndarray]:
    """Segments of 1000 bytes; some come a second time, each is acknowledged later, and said in a block."""
    at_s, new, again = 0.0, [], []
    for number, (gap_us, twice) in enumerate(steps):
        at_s += gap_us / 1e6
        new.append((at_s, number * 1e3, (number + 1) * 1e3))
        if twice:
            again.append((at_s + 2e-6, number * 1e3, (number + 1) * 1e3))
    rows = np.array(new)
    return {
        "new": rows,
        "retransmitted": np.array(again).reshape(-1, 3),
        "late": np.zeros((0, 3)),
        "ack": rows[:, [0, 2, 2]] + [0.001, 0, 5e4],
        "sack": np.repeat(rows, 2, axis=0),
    }


def covered(strokes: np.ndarray) -> set[int]:
    """Numbers of the segments between the first and the last bytes of strokes."""
    return {each for row in strokes for each in range(int(row[1]) // 1000, int(row[3]) // 1000)}


steps = st.lists(st.tuples(st.integers(0, 5_000), st.booleans()), min_size=1, max_size=120)


@given(steps, st.integers(4, 200))
def test_thinning_leaves_out_no_byte_and_nothing_that_was_sent_again(
    gaps: list[tuple[int, bool]], most: int
) -> None:
    kinds = made(gaps)
    thin = thinned(kinds, most=most)
    assert np.array_equal(thin.strokes["retransmitted"][:, [0, 1, 3]], kinds["retransmitted"])
    strokes = thin.strokes["new"]
    assert strokes[0, 1] == 0
    assert np.array_equal(strokes[1:, 1], strokes[:-1, 3])
    assert strokes[-1, 3] == len(gaps) * 1e3
    # Time does not go back, and the end stays: the last thing acknowledged is the last thing shown.
    assert (strokes[:, 0] <= strokes[:, 2]).all()
    assert (strokes[1:, 0] >= strokes[:-1, 2]).all()
    assert np.array_equal(thin.acks[-1], kinds["ack"][-1])
    assert covered(thin.strokes["sack"]) == {*range(len(gaps))}
    assert bool(thin.note) == (3 * len(gaps) > max(most - len(kinds["retransmitted"]), most // 4))


def test_near_what_was_sent_again_each_segment_stays_alone() -> None:
    kinds = made([(100, number == 5_000) for number in range(10_000)])
    thin = thinned(kinds, most=2_000)
    shown = sum(map(len, thin.strokes.values())) + len(thin.acks)
    assert 500 < shown <= 2_000
    near_s, width_s = (float(each) / 1e3 for each in re.findall(r"([\d.]+) ms", thin.note)[::-1])
    event_s = kinds["retransmitted"][0, 0]
    instants = kinds["new"][:, 0]
    within = instants[np.abs(instants - event_s) < near_s * 0.99]
    assert len(within) > 50
    alone = thin.strokes["new"][thin.strokes["new"][:, 0] == thin.strokes["new"][:, 2], 0]
    assert set(within) <= set(alone)
    assert (thin.strokes["new"][:, 2] - thin.strokes["new"][:, 0]).max() <= width_s * 1.01


def test_a_pause_longer_than_the_stretch_is_no_stroke() -> None:
    kinds = made([(0 if number % 50 else 50_000, False) for number in range(2_000)])
    strokes = thinned(kinds, most=600).strokes["new"]
    assert (strokes[:, 2] - strokes[:, 0]).max() < 0.01
    assert len(strokes) == 40


def test_a_block_is_drawn_when_it_is_first_said() -> None:
    kinds = made([(100, False)] * 5)
    later = kinds["sack"] + [1.0, 0, 0]
    blocks = thinned({**kinds, "sack": np.concatenate([kinds["sack"], later])}, most=1000).strokes["sack"]
    assert np.array_equal(blocks[:, [0, 1, 3]], kinds["new"])


def test_series_are_what_was_recorded_to_the_microsecond_and_byte(run: Path) -> None:
    kinds = recorded(run)
    shown = panel(kinds, title="t", most=100_000)
    series = {each.name: each for each in shown.series}
    scale = {"data [kB]": 1e3, "data [MB]": 1e6}[shown.y.label]
    assert shown.note == ""
    assert len(kinds["retransmitted"]) > 10
    for name, kind in (("segment", "new"), ("retransmitted", "retransmitted")):
        strokes = series[name]
        assert strokes.low is not None
        assert strokes.y * scale == pytest.approx(kinds[kind][:, 2])
        assert strokes.low * scale == pytest.approx(kinds[kind][:, 1])
        assert np.array_equal(strokes.x, kinds[kind][:, 0])
        assert np.array_equal(strokes.x, strokes.to_x)
    for name, column in (("acknowledged", 1), ("end of the window", 2)):
        assert np.array_equal(series[name].x, kinds["ack"][:, 0])
        assert series[name].y * scale == pytest.approx(kinds["ack"][:, column])


def test_what_controls_a_flow_has_no_graph() -> None:
    def table(sizes: dict[str, int]) -> dict[str, np.ndarray]:
        rows = [(name, at, at * 1000, at * 1000 + 1000) for name, size in sizes.items() for at in range(size)]
        flow, at, first, last = (np.array(column) for column in zip(*rows, strict=True))
        same = {name: np.full(len(rows), word) for name, word in (("link", "wan"), ("way", "forward"))}
        kind = np.full(len(rows), "new")
        return {**same, "flow": flow, "t_ns": at, "kind": kind, "from_bytes": first, "to_bytes": last}

    drawn = sequences(table({"data": 3_000, "control": 3, "other": 4}))
    assert drawn is not None
    titles = [each.title.partition(":")[0] for each in drawn.panels]
    assert titles == ["data, wan forward", "other, wan forward"]


def test_a_report_offers_the_part_where_most_was_sent_again(run: Path) -> None:
    chart = embedded_charts(run)["sequences"]
    (shown,) = panels(chart)
    begin, end = shown["part"]["begin"], shown["part"]["end"]
    at_s = recorded(run)["retransmitted"][:, 0]
    inside = ((at_s >= begin) & (at_s <= end)).sum()
    assert inside == max(((at_s >= each) & (at_s <= each + end - begin)).sum() for each in at_s)
    assert shown["part"]["name"] == "most retransmissions"
    assert chart["axes"][shown["x"]]["reach"][0] <= begin < end
