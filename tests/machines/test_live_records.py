"""The records of the parts of a running network, joined while they grow, and what machines send of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from longhaul.machines.record_stream import RecordReceiver, RecordSender
from longhaul.results.changes import read_changes
from longhaul.results.live_records import LiveRecords
from longhaul.results.monitors import LatenessMonitor, LinkMonitor
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: pair
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
"""
HEADER = "t_ns,link,way,wire_bytes,waiting_bytes\n"
LATE = "t_ns,link,way,packets,sum_ns,le_1000_ns\n"
NAMES = ("one", "two")
PARTITION = (0, 1)
SECOND = 10**9


def append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    (tmp_path / "plan.json").write_text(json.dumps(resolve(parse_scenario(SCENARIO, name="pair.yaml")).plan))
    for name, way in zip(NAMES, ("forward", "reverse"), strict=True):
        append(tmp_path / "machines" / name / "raw/samples.csv", HEADER)
        append(tmp_path / "machines" / name / "raw/lateness.csv", LATE)
        append(tmp_path / "machines" / name / "raw/changes.jsonl", "")
        sample(tmp_path, name, way, 0, 0)
    return tmp_path


def sample(directory: Path, name: str, way: str, t_ns: int, wire_bytes: int) -> None:
    append(directory / "machines" / name / "raw/samples.csv", f"{t_ns},wan,{way},{wire_bytes},0\n")


def records_of(directory: Path) -> LiveRecords:
    plan = json.loads((directory / "plan.json").read_text())
    return LiveRecords(directory, plan, PARTITION, NAMES, interval_ns=SECOND)


def test_a_sample_of_the_network_has_one_of_each_part_at_its_own_time(directory: Path) -> None:
    plan = json.loads((directory / "plan.json").read_text())
    records, monitor = records_of(directory), LinkMonitor(directory, plan)
    # The second part took its sample 50 ms after the first: its throughput is over a longer time.
    sample(directory, "one", "forward", SECOND, 125_000)
    records.update()
    assert monitor.read()
    assert np.isnan(monitor.usage().throughput_bits_per_s).all()
    sample(directory, "two", "reverse", SECOND + 50_000_000, 131_250)
    records.update()
    assert monitor.read()
    assert monitor.usage().throughput_bits_per_s.tolist() == pytest.approx([1e6, 1e6])
    assert (directory / "raw/samples.csv").read_text().count("t_ns") == 1


def test_a_sample_that_one_part_skipped_is_left_out(directory: Path) -> None:
    plan = json.loads((directory / "plan.json").read_text())
    records, monitor = records_of(directory), LinkMonitor(directory, plan)
    for second in (1, 2, 3):
        sample(directory, "one", "forward", second * SECOND, second * 1000)
    sample(directory, "two", "reverse", 1 * SECOND, 1000)
    sample(directory, "two", "reverse", 3 * SECOND, 3000)
    records.update()
    monitor.read()
    assert monitor.t_ns == 3 * SECOND
    assert monitor.counters["wire_bytes"].tolist() == [3000, 3000]
    times = [line.split(",")[0] for line in (directory / "raw/samples.csv").read_text().splitlines()[1::2]]
    assert times == ["0", f"{SECOND}", f"{3 * SECOND}"]


def test_lateness_has_the_times_of_the_samples_whichever_part_counted_it(directory: Path) -> None:
    records = records_of(directory)
    monitor = LatenessMonitor(directory, ["wan/forward", "wan/reverse"])
    for second in (1, 2):
        for name, way, late in (("one", "reverse", 0), ("two", "forward", 30)):
            sample(
                directory, *(("one", "forward") if name == "one" else ("two", "reverse")), second * SECOND, 0
            )
            row = f"{second * SECOND + late},wan,{way},{10 * second},0,{10 * second}\n"
            append(directory / "machines" / name / "raw/lateness.csv", row)
        records.update()
        assert monitor.read()
    latest = monitor.latest
    assert latest is not None
    assert latest.t_ns == 2 * SECOND
    assert latest.packets[:, 0].tolist() == [20, 20]


def test_a_change_is_one_change_with_the_counts_of_each_directions_owner(directory: Path) -> None:
    plan = json.loads((directory / "plan.json").read_text())
    records = records_of(directory)
    change = {
        "at_ns": 5,
        "link": 0,
        "direction": None,
        "change": {"up": False},
        "cause": {"by": "cli", "words": []},
    }
    for name, number in (("one", 1), ("two", 2)):
        before = {"forward": {"n": number}, "reverse": {"n": number}}
        append(
            directory / "machines" / name / "raw/changes.jsonl",
            json.dumps({**change, "before": before}) + "\n",
        )
        records.update()
    (found,) = read_changes(directory, plan)
    assert found.before == {"forward": {"n": 1}, "reverse": {"n": 2}}


def test_a_machine_sends_two_samples_a_second_and_the_ends_of_logs(tmp_path: Path) -> None:
    part, copy, logs = tmp_path / "part", tmp_path / "copy", tmp_path / "logs"
    append(part / "raw/samples.csv", HEADER)
    append(part / "logs/ping.out", "one\n")
    append(part / "logs/engine.err", "of Longhaul\n")
    sender, receiver = RecordSender(part), RecordReceiver(copy, logs)
    for step in range(20):
        for way in ("forward", "reverse"):
            append(part / "raw/samples.csv", f"{step * 100_000_000 + 7},wan,{way},{step},0\n")
        if (packed := sender.packed()) is not None:
            receiver.take(packed)
    lines = (copy / "samples.csv").read_text().splitlines()
    assert lines[0] + "\n" == HEADER
    assert [line.split(",")[3] for line in lines[1::2]] == ["0", "5", "10", "15"]
    append(part / "logs/ping.out", "two\n" * 100_000 + "half a line")
    packed = sender.packed()
    assert packed is not None
    receiver.take(packed)
    text = (logs / "ping.out").read_text()
    assert text.startswith("one\ntwo\n")
    assert len(text) < 100_000
    assert text.endswith("two\n")
    assert [path.name for path in logs.iterdir()] == ["ping.out"]
    assert sender.packed() is None


@pytest.mark.parametrize("name", ["../raw/samples.csv", "raw/../../x", "raw/a/b", "etc/passwd", "raw/"])
def test_records_of_a_machine_stay_in_their_directories(tmp_path: Path, name: str) -> None:
    sender = RecordSender(tmp_path / "none")
    content = sender._packer.compress(json.dumps({name: "text"}).encode())
    import base64
    import zlib

    packed = base64.b64encode(content + sender._packer.flush(zlib.Z_SYNC_FLUSH)).decode()
    with pytest.raises(ValueError, match="damaged records"):
        RecordReceiver(tmp_path / "raw", tmp_path / "logs").take(packed)
