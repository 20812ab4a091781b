"""Time/sequence graphs: a run leaves every segment of the flows that sent most, and the figure shows them."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from embedded import embedded_charts, panels
from hypothesis import given
from hypothesis import strategies as st

import longhaul
from longhaul.analysis.segments import busiest_span, flows

SHARED = """
version: 1
name: shared
seed: 3
duration: 6s
nodes:
  r: {kind: router}
  s: {kind: router}
  a1..2: {kind: host, attach: r}
  b1..2: {kind: host, attach: s}
links: {wan: {endpoints: [r, s], delay: 10ms, rate: 10Mbit, queue: 1bdp, forward: {loss: 0.2%}}}
traffic:
  there: {kind: tcp, from: a1, to: b1, cc: reno}
  back: {kind: tcp, from: b2, to: a2, cc: cubic, flows: 3}
measure: {packets: {links: [wan], window: WINDOW}}
"""


def simulated(place: Path, window: str) -> Path:
    (place / "shared.yaml").write_text(SHARED.replace("WINDOW", window))
    return longhaul.run_sim(place / "shared.yaml", runs=place / "runs").directory


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(tmp_path_factory.mktemp("whole"), "1s")


def test_every_packet_with_data_is_a_row(run: Path) -> None:
    table = pq.read_table(run / "segments.parquet").to_pydict()
    packets = pq.read_table(run / "packets.parquet").to_pydict()
    # The last acknowledgement of a flow has no data; those with data are larger than 100 bytes.
    sent = Counter(flow for flow, size in zip(packets["flow"], packets["bytes"], strict=True) if size > 100)
    rows = Counter(
        flow
        for flow, kind in zip(table["flow"], table["kind"], strict=True)
        if kind in ("new", "retransmitted")
    )
    assert len(rows) == 3
    assert rows == {flow: sent[flow] for flow in rows}
    # The three with most of them.
    assert min(rows.values()) >= sorted(sent.values())[-3]


def test_what_was_sent_again_is_what_the_flow_counts(run: Path) -> None:
    import json

    summary = json.loads((run / "summary.json").read_text())
    counted = {f"{flow['flow']}.0": flow["streams"][0]["retransmits"] for flow in summary["flows"]}
    table = pq.read_table(run / "segments.parquet").to_pydict()
    again = sum(
        kind == "retransmitted" and flow == "there.0"
        for flow, kind in zip(table["flow"], table["kind"], strict=True)
    )
    assert again > 5
    # At most the last ones are still before the link when the run ends.
    assert again == pytest.approx(counted["there.0"], abs=2)


def test_data_lie_between_what_was_acknowledged_and_the_window(run: Path) -> None:
    columns = pq.read_table(run / "segments.parquet")
    table = {name: columns.column(name).to_numpy(zero_copy_only=False) for name in columns.column_names}
    found = flows(table)
    assert ("wan", "forward", "there.0") in found
    assert any(way == "reverse" for _, way, _ in found)
    for kinds in found.values():
        acks, new = kinds["ack"], kinds["new"]
        assert (np.diff(acks[:, 1]) >= 0).all()
        assert (np.diff(new[:, 1]) > 0).all()
        # What an acknowledgement that has passed allows; the first flight needs none.
        later = new[new[:, 0] > acks[0, 0]]
        last = acks[np.searchsorted(acks[:, 0], later[:, 0], side="right") - 1]
        assert (later[:, 1] >= last[:, 1]).all()
        assert (later[:, 2] <= last[:, 2]).all()
        assert len(kinds["sack"])


def test_the_report_draws_them_and_says_what_was_sent_again(run: Path) -> None:
    shown = panels(embedded_charts(run)["sequences"])
    assert len(shown) == 3
    assert any(panel["title"].startswith("there.0, wan forward: ") for panel in shown)
    for panel in shown:
        names = [series["name"] for series in panel["series"]]
        assert {"segment", "retransmitted", "SACK", "acknowledged", "end of the window"} <= set(names)


def test_a_record_with_gaps_has_no_sequence(tmp_path: Path) -> None:
    directory = simulated(tmp_path, "100ms")
    assert (directory / "packets.parquet").is_file()
    assert not (directory / "segments.parquet").exists()
    assert "sequences" not in embedded_charts(directory)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60), st.floats(0.01, 50))
def test_no_stretch_has_more_than_the_busiest(instants: list[float], span_s: float) -> None:
    at_s = np.sort(np.array(instants))
    begin, end = busiest_span(at_s, span_s=span_s)
    assert end - begin == pytest.approx(span_s)
    # Rounding may put an instant at the edge just outside of it.
    inside = int(((at_s >= begin - 1e-9) & (at_s <= end + 1e-9)).sum())
    assert inside >= max(int(((at_s >= each) & (at_s <= each + span_s)).sum()) for each in at_s)
