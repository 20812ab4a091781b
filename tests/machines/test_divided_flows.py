"""Simulated flows of which two machines have an end each, as one."""

import csv
import json
from pathlib import Path
from typing import Any

from longhaul.plan import Plan
from longhaul.results import machine_records
from longhaul.results.divided_flows import DividedFlows, joined_results
from longhaul.results.live_records import LiveRecords
from longhaul.run import live
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: pair
duration: 3s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic:
  bulk: {kind: tcp, from: a, to: b, simulated: true}
  back: {kind: udp, from: b, to: a, rate: 1Mbit, simulated: true}
  probe: {kind: ping, from: a, to: b, simulated: true}
measure: {every: 100ms}
"""
HEADER = (
    "t_ns,flow,stream,sent_bytes,received_bytes,window_segments,threshold_segments,rtt_ns,retransmits,"
    "in_flight"
)
MS = 1_000_000


def plan() -> Plan:
    return live.plan_run(resolve(parse_scenario(SCENARIO, name="pair.yaml"))).plan


def sent(t_ms: float, flow: str, sent_bytes: int) -> str:
    return f"{round(t_ms * MS)},{flow},0,{sent_bytes},0,10.5,,20000000,1,7"


def received(t_ms: float, flow: str, received_bytes: int) -> str:
    return f"{round(t_ms * MS)},{flow},0,0,{received_bytes},,,,0,0"


def write(directory: Path, name: str, *rows: str) -> None:
    path = directory / "machines" / name / "raw/flows.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a") as file:
        file.write("".join(f"{row}\n" for row in ([HEADER] if new else []) + list(rows)))


def counts(path: Path) -> list[tuple[int, str, int, int]]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return [
        (int(row["t_ns"]) // MS, row["flow"], int(row["sent_bytes"]), int(row["received_bytes"]))
        for row in rows
    ]


def test_a_sample_has_what_the_sender_knows_and_what_its_receiver_counted_then(tmp_path: Path) -> None:
    write(tmp_path, "m1", *(sent(100 * n, "bulk", 900 * n) for n in (1, 2, 3)), received(200.1, "back", 40))
    # It counted nothing before 200 ms, and its last sample is that of the end.
    write(tmp_path, "m2", received(200.2, "bulk", 500), received(300.1, "bulk", 1400))
    write(tmp_path, "m2", received(320, "bulk", 1600), *(sent(100 * n + 1, "back", 50 * n) for n in (1, 2)))
    parts = [
        machine_records._Part(number, name, tmp_path / "machines" / name, None, 0.0, 0.0)
        for number, name in enumerate(("m1", "m2"))
    ]
    (tmp_path / "raw").mkdir()
    flows = DividedFlows(plan(), (0, 1), 100 * MS)
    machine_records._merge_divided_flows(tmp_path / "raw/flows.csv", parts, flows)
    assert counts(tmp_path / "raw/flows.csv") == [
        (100, "bulk", 900, 0),
        (200, "bulk", 1800, 500),
        (300, "bulk", 2700, 1400),
        (101, "back", 50, 0),
        (201, "back", 100, 40),
    ]
    # The sender's other columns stay.
    assert (tmp_path / "raw/flows.csv").read_text().splitlines()[2].endswith(",10.5,,20000000,1,7")


def test_samples_during_the_run_wait_for_those_of_the_receiver(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for name in ("m1", "m2"):
        for file in ("samples.csv", "changes.jsonl"):
            path = tmp_path / "machines" / name / "raw" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("t_ns,link,way,wire_bytes,waiting_bytes\n" if file == "samples.csv" else "")
    records = LiveRecords(tmp_path, plan(), (0, 1), ("m1", "m2"), interval_ns=100 * MS, are_machines=True)

    def sampled(number: int) -> None:
        for name, way in (("m1", "forward"), ("m2", "reverse")):
            with (tmp_path / "machines" / name / "raw/samples.csv").open("a") as file:
                file.write(f"{number * 100 * MS},wan,{way},0,0\n")

    sampled(1)
    write(tmp_path, "m1", sent(100, "bulk", 900))
    records.update()
    assert not (tmp_path / "raw/flows.csv").exists()
    sampled(2)
    write(tmp_path, "m2", received(100, "bulk", 500))
    records.update()
    assert counts(tmp_path / "raw/flows.csv") == [(100, "bulk", 900, 500)]


def test_a_result_has_the_bytes_of_the_receiver_and_the_time_of_the_sender() -> None:
    sender = {
        "name": "bulk",
        "stream": 0,
        "span_s": 2.0,
        "done_ns": 5,
        "goodput_bits_per_s": None,
        "losses": 1,
    }
    receiver: dict[str, Any] = {
        "name": "bulk", "stream": 0, "span_s": 3.0, "done_ns": None, "goodput_bits_per_s": 1.0, "bytes": 1000,
        "arrived_ns": 4,
    }  # fmt: skip
    whole = {"name": "probe", "stream": 0, "span_s": 3.0, "bytes": 0, "goodput_bits_per_s": 0.0, "sent": 9}
    expected = {**sender, "bytes": 1000, "arrived_ns": 4, "goodput_bits_per_s": 4000.0}
    for results in ([whole, sender, receiver], [receiver, sender, whole]):
        assert joined_results(plan(), json.loads(json.dumps(results))) == [expected, whole]
    # A flow that did not begin has no times.
    (never,) = joined_results(plan(), [{**sender, "span_s": 0.0}, receiver])
    assert never["goodput_bits_per_s"] is None
