"""Pacing of hosts: what a scenario says, what the plan has, and what comes of it in a simulation."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import longhaul
from longhaul.cli.main import longhaul as longhaul_command
from longhaul.run.sim import simulated_plan
from longhaul.scenario import ScenarioError, load_scenario, resolve, resolve_pacing

FRAMES = """\
version: 1
name: paced
duration: 1s
nodes:
  src:
    kind: host
    pacing:
      CLASSES
  one: {kind: host}
  two: {kind: host}
  r: {kind: router}
links:
  src-r: {endpoints: [src, r], rate: 1Gbit, delay: 1ms}
  one-r: {endpoints: [one, r], delay: 1ms}
  two-r: {endpoints: [two, r], delay: 1ms}
traffic:
  first: {kind: udp, from: src, to: one, rate: 600Mbit, size: 1472B}
  second: {kind: udp, from: src, to: two, rate: 300Mbit, size: 1472B}
measure: {packets: {links: [src-r], window: 1s}}
"""


def written(tmp_path: Path, classes: str, more: str = "") -> Path:
    path = tmp_path / "paced.yaml"
    path.write_text(FRAMES.replace("CLASSES", classes) + more, encoding="utf-8")
    return path


def pacing(path: Path) -> Any:
    return resolve(load_scenario(path)).plan["links"][0]["forward"]["pacing"]


def test_classes_become_models_limits_and_rules(tmp_path: Path) -> None:
    found = pacing(
        written(
            tmp_path,
            "{line_rate: 10Gbit, count: psp, classes: {bulk: {rate: 500Mbit, to: [one, two],"
            " port: [5001, 6000..6009], protocol: tcp, queue: 10ms},"
            " tbf: {bucket: 100Mbit, burst: 15400B, latency: 1ms, dscp: 10},"
            " own: {rate: 1Mbit, flows: 2, traffic: first}}}",
        )
    )
    assert (found["line_bits_per_s"], found["default"]) == (10**10, 4)
    assert (found["line_framing"]["overhead_bytes"], found["class_framing"]["overhead_bytes"]) == (38, 18)
    names = [each["name"] for each in found["classes"]]
    assert names == ["bulk", "tbf", "own.1", "own.2", "normal"]
    # 10 ms at 500 Mbit/s; tbf's limit is rate * latency + burst (specification of tbf(8)).
    limits = [each["limit_bytes"] for each in found["classes"]]
    assert limits == [625_000, 12_500 + 15_400, None, None, None]
    assert found["classes"][4]["model"] == {"kind": "normal"}
    assert found["rules"][0] == {
        "class": 0, "flows": 0, "destinations": [1, 2], "ports": [[5001, 5001], [6000, 6009]],
        "protocol": 6, "dscp": None, "senders": [],
    }  # fmt: skip
    assert (found["rules"][2]["class"], found["rules"][2]["flows"]) == (2, 2)


def test_a_simulation_knows_whose_flows_belong_to_a_class(tmp_path: Path) -> None:
    path = written(tmp_path, "{classes: {a: {rate: 1Mbit, traffic: [second]}}}")
    plan, _rows = simulated_plan(resolve(load_scenario(path)))
    rule = plan["links"][0]["forward"]["pacing"]["rules"][0]
    names = [flow["name"] for flow in plan["flows"]]
    assert rule["senders"] == [{"flow": names.index("second")}]


def test_a_thousand_classes_from_8_kbit_to_930_mbit_fit_and_one_bit_more_does_not(tmp_path: Path) -> None:
    rest = 10**9 - 930 * 10**6 - 998 * 8_000 - 8_000
    classes = (
        "{classes: {big: {rate: 930Mbit, to: one}, many: {rate: 8kbit, flows: 998, to: two},"
        " last: {rate: LAST}}, default: last}"
    )
    fits = pacing(written(tmp_path, classes.replace("LAST", f"{rest + 8000}bit")))
    assert len(fits["classes"]) == 1000
    with pytest.raises(ScenarioError, match=r"1000 classes need .* of a line of 1Gbit"):
        pacing(written(tmp_path, classes.replace("LAST", f"{rest + 8001}bit")))


def test_events_and_set_change_classes_and_count_what_they_promise_then(tmp_path: Path) -> None:
    classes = "{classes: {a: {rate: 600Mbit, to: one}, b: {rate: 300Mbit, flows: 1, to: two}}}"
    events = (
        "events:\n"
        "  - {at: 100ms, host: src, pacing: {a: unpaced}}\n"
        "  - {at: 200ms, host: src, pacing: {b: 900Mbit}}\n"
    )
    plan = resolve(load_scenario(written(tmp_path, classes, events))).plan
    assert [event["change"]["pacing"] for event in plan["events"]] == [
        [{"class": 0, "model": {"kind": "normal"}}],
        [{"class": 1, "model": {"kind": "paced", "bits_per_s": 900_000_000}}],
    ]
    found = resolve_pacing(["b={bucket: 10Mbit, burst: 3kB}"], plan["links"][0]["forward"]["pacing"])
    assert found[0]["model"]["burst_bytes"] == 3_000
    with pytest.raises(ScenarioError, match="there is no class"):
        resolve_pacing(["c=1Mbit"], plan["links"][0]["forward"]["pacing"])


def test_two_classes_leave_in_the_order_and_with_the_gaps_of_pspacer_s_note(tmp_path: Path) -> None:
    """500 and 250 Mbit/s of 1 Gbit/s: P1, P2, P1, gap, P1, P2, ...; gaps of 1500 and 4500 bytes."""
    path = written(tmp_path, "{classes: {p1: {rate: 500Mbit, to: one}, p2: {rate: 250Mbit, to: two}}}")
    path.write_text(
        path.read_text(encoding="utf-8").replace("duration: 1s", "duration: 240ms"), encoding="utf-8"
    )
    result = longhaul.run_sim(path, runs=tmp_path / "runs", report=False)
    with (result.directory / "raw" / "packets.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["link"] == "src-r" and row["way"] == "forward"]
    flows = sorted({row["flow"] for row in rows})
    # Once both have something waiting; each packet comes to the link when its first bit leaves.
    later = [(int(row["offered_ns"]), row["flow"]) for row in rows if int(row["offered_ns"]) > 100_000_000]
    faster = max(flows, key=lambda flow: sum(each == flow for _at, each in later))
    starts = {flow: [at for at, each in later if each == flow] for flow in flows}
    for flow, gap_ns in ((faster, 24_000), (min(flows, key=lambda flow: len(starts[flow])), 48_000)):
        gaps = {after - before for before, after in zip(starts[flow], starts[flow][1:], strict=False)}
        assert gaps == {gap_ns}
    letters = "".join("1" if flow == faster else "2" for _at, flow in later[:60])
    assert "121121121121" in letters
    assert not any(each in letters for each in ("22", "111"))
    for row in result.summary["pacing"]:
        if row["rate_bits_per_s"]:
            assert row["gap_errors"]["max_ns"] <= 12_000
            assert row["sent_packets"] == pytest.approx(row["rate_bits_per_s"] * 0.24 / 12_000, abs=1)


def test_every_packet_of_a_paced_host_has_one_fate(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "{classes: {p1: {rate: 50Mbit, to: one, queue: 20p}, p2: {bucket: 25Mbit, burst: 1499B, to: two}}}",
    )
    result = longhaul.run_sim(path, runs=tmp_path / "runs", report=False)
    packets = result.summary["packets"]
    assert packets["injected"] == sum(
        value for fate, value in packets.items() if fate not in ("injected", "copied", "replies")
    )
    rows = {row["class"]: row for row in result.summary["pacing"]}
    # No packet of 1500 bytes passes a bucket of 1499.
    assert rows["p2"]["dropped_packets"] == rows["p2"]["offered_packets"] > 20_000
    assert rows["p1"]["sent_bytes"] * 8 == pytest.approx(50e6, rel=1e-3)
    assert packets["pacer_dropped"] == sum(row["dropped_packets"] for row in rows.values())
    link = next(
        each for each in result.summary["links"] if each["name"] == "src-r" and each["way"] == "forward"
    )
    assert link["packets"]["offered"] == rows["p1"]["sent_packets"]


def test_the_guide_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs/how-to/pacing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+[^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _block in blocks] == ['yaml title="paced.yaml"', "sh"]
    (tmp_path / "paced.yaml").write_text(blocks[0][1], encoding="utf-8")
    for command in blocks[1][1].splitlines():
        done = CliRunner().invoke(longhaul_command, command.split()[1:], catch_exceptions=False)
        assert done.exit_code == 0
    rows = {
        row["class"]: row for row in json.loads(Path("runs/paced/latest/summary.json").read_text())["pacing"]
    }
    # 250 Mbit/s for two seconds and 100 for two, but for slow start; wire bytes are 1538 of 1500.
    assert 120e6 < rows["bulk"]["sent_bits_per_s"] < 175e6
    assert all(18e6 < rows[f"users.{n}"]["sent_bits_per_s"] * 1538 / 1500 <= 20.1e6 for n in range(1, 5))
    assert rows["users.5"]["offered_packets"] == 0
    assert rows["shaped"]["dropped_packets"] > 0
