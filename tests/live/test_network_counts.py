"""What the network counted of real flows in a run changed by hand adds up wherever it is shown."""

import time
from typing import Any

import pyarrow.parquet as pq
import pytest
from attribution import check

import longhaul

pytestmark = pytest.mark.waiting

SCENARIO = """\
version: 1
name: counted
duration: 3s
nodes:
  r: {kind: router}
  s: {kind: router}
  a1..2: {kind: host, attach: r}
  b1..2: {kind: host, attach: s}
links:
  wan: {endpoints: [r, s], delay: 60ms, rate: 10Mbit, queue: {limit: 30kB}}
traffic:
  bulk: {kind: tcp, from: a1, to: b1, cc: reno, flows: 2}
  flood: {kind: udp, from: a2, to: b1, rate: 4Mbit, size: 1000B}
  probe: {kind: ping, from: a1, to: [b1, b2], every: 50ms}
programs:
  own: {run: sh -c 'sleep 0.1; ping -n -q -i 0.2 -c 3 b1', host: a1, expect_exit: any}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Result:
    folder = tmp_path_factory.mktemp("counted")
    (folder / "counted.yaml").write_text(SCENARIO)
    name = f"counted-{time.time_ns()}"
    with longhaul.up(folder / "counted.yaml", name=name, runs=folder / "runs") as network:
        time.sleep(0.7)
        network.set("wan", loss="2%")
        time.sleep(0.5)
        network.set("wan", up=False)
        time.sleep(0.5)
        network.set("wan", up=True)
        time.sleep(1.0)
    assert network.result is not None
    return network.result


def test_drops_add_up_and_are_shown_alike(result: longhaul.Result, capsys: Any) -> None:
    found = check(result.directory, capsys)
    assert {"lost", "down"} <= set(found)


def test_each_packet_of_a_flow_has_a_fate(result: longhaul.Result) -> None:
    rows = pq.read_table(result.directory / "connections.parquet").to_pylist()
    packets = result.summary["packets"]
    fates = [name for name in rows[0] if name.endswith("_packets")]
    ended = [
        name for name in fates if name.split("_")[0] not in ("sent", "retransmitted", "delivered", "copied")
    ]
    total = {name: sum(row[name] for row in rows) for name in fates}
    assert total["sent_packets"] == packets["injected"]
    assert total["delivered_packets"] == packets["delivered"]
    assert total["down_packets"] == packets["down"]
    for row in rows:
        gone = row["delivered_packets"] + sum(row[name] for name in ended)
        assert row["sent_packets"] + row["copied_packets"] - gone >= 0


def test_goodput_is_what_the_receiver_acknowledged(result: longhaul.Result) -> None:
    (bulk,) = (each for each in result.summary["flows"] if each["flow"] == "bulk")
    assert (bulk["measured_by"], bulk["error"]) == ("network", None)
    assert bulk["algorithms"] == ["reno"]
    assert len(bulk["stream_rates"]) == 2
    delivered = [
        row
        for row in pq.read_table(result.directory / "connections.parquet").to_pylist()
        if row["destination_port"] == 5201 and row["new_bytes"] > 1000
    ]
    assert len(delivered) == 2
    # What is in flight was sent and not acknowledged; nothing is acknowledged that was not delivered.
    assert bulk["bytes"] <= sum(row["delivered_bytes"] for row in delivered)
    assert bulk["bytes"] > 0.5 * sum(row["new_bytes"] - row["retransmitted_bytes"] for row in delivered)
    rows = result.table("flows")
    carried = sum(
        rate * (end - start) / 8
        for flow, start, end, rate in zip(
            rows["flow"], rows["start_s"], rows["end_s"], rows["bits_per_s"], strict=True
        )
        if flow == "bulk"
    )
    assert carried == pytest.approx(bulk["bytes"], abs=2), "the intervals add up"
    assert result.summary["fairness"]["jain"] > 0.5


def test_pings_over_a_link_that_was_down_are_lost(result: longhaul.Result) -> None:
    probes = {each["to"]: each for each in result.summary["probes"]}
    for probe in probes.values():
        # Half a second without a link, at 20 pings a second.
        assert probe["lost_down"] >= 8
        assert probe["lost"] >= probe["lost_down"]
        assert probe["received"] + probe["lost"] <= probe["sent"]
        assert probe["loss"] == probe["lost"] / probe["sent"]
    rows = result.table("probes")
    assert sum(to == "b1" for to in rows["to"]) == probes["b1"]["sent"], "not those of the program"


def test_reports_of_programs_agree_with_the_network(result: longhaul.Result) -> None:
    assert [each for each in result.summary["warnings"] if each["kind"] == "contradiction"] == []
    checked = {each["flow"]: each["checked"] for each in result.summary["flows"]}
    assert {each["what"] for each in checked["flood"]} == {"sent", "received"}
