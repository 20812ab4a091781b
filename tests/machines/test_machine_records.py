"""Records of several machines as those of one."""

import csv
import io
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.fidelity import late_quantile_ns
from longhaul.analysis.merged_distributions import counts_of, merged
from longhaul.machines.archive import packed, unpack
from longhaul.results import machine_records, pcapng

Json = dict[str, Any]


def distribution(values: list[int]) -> Json:
    counts, seen, cdf = Counter(values), 0, []
    for ns in sorted(counts):
        seen += counts[ns]
        cdf.append((ns, seen / len(values)))
    ordered = sorted(values)
    return {
        "count": len(values),
        "mean_ns": sum(values) / max(len(values), 1),
        "p50_ns": ordered[(len(ordered) - 1) // 2] if ordered else 0,
        "max_ns": max(values, default=0),
        "cdf": cdf,
    }


@given(st.lists(st.lists(st.integers(0, 50), max_size=30), min_size=1, max_size=4))
def test_a_merged_distribution_is_that_of_all_values(every: list[list[int]]) -> None:
    found = merged([distribution(values) for values in every])
    whole = distribution([value for values in every for value in values])
    assert counts_of(found) == counts_of(whole)
    assert (found["count"], found["max_ns"], found["p50_ns"]) == (
        whole["count"],
        whole["max_ns"],
        whole["p50_ns"],
    )
    assert found["mean_ns"] == pytest.approx(whole["mean_ns"])


def test_the_lateness_of_a_share_counts_packets_in_time_as_well() -> None:
    late = distribution([1_000] * 5 + [9_000] * 5)
    assert late_quantile_ns(late, 10_000, 0.99) == 0
    assert late_quantile_ns(late, 500, 0.99) == 1_000
    assert late_quantile_ns(late, 100, 0.99) == 9_000
    assert late_quantile_ns(distribution([]), 100, 0.99) == 0


def engine(injected: int, delivered: int, sent: int, received: int, leaving: int, arriving: int) -> Json:
    fates = {
        "injected": injected,
        "copied": 0,
        "replies": 0,
        "delivered": delivered,
        "lost": 0,
        "held": leaving,
    }
    return {
        "packets": fates,
        "tunnel": {"peers": [{"sent_packets": sent, "received_packets": received}]},
        "leaving_packets": leaving,
        "arriving_packets": arriving,
    }


def test_each_packet_has_one_fate_on_whichever_machine() -> None:
    # 100 cross from the first machine, of which 7 are not yet due; 90 come, of which 4 are not.
    first, second = engine(120, 20, 100, 0, 7, 0), engine(0, 86, 0, 90, 0, 4)
    found = machine_records.packets([first, second])
    assert found == {
        "injected": 120, "copied": 0, "replies": 0, "delivered": 106, "lost": 0, "held": 4,
        "lost_between_machines": 10,
    }  # fmt: skip


FLOW_COLUMNS = (
    "flow,protocol,source,source_port,destination,destination_port,first_ns,last_ns,last_new_ns,"
    "last_acknowledged_ns,sent_packets,sent_bytes,acknowledged_bytes,delivered_packets,lost_packets"
)
SAMPLE_COLUMNS = (
    "t_ns,flow,sent_packets,payload_bytes,retransmitted_packets,acknowledged_bytes,delivered_packets,"
    "delivered_bytes,ended_packets"
)


def table(path: Path, header: str, *rows: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join((header, *rows)) + "\n")


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def recorded(directory: Path, *, offset_ns: float = 0.0, drift: float = 0.0) -> list[Any]:
    """The parts of a run on two machines, the second of which has another clock."""
    names = ["m1", "m2"]
    for number, name in enumerate(names):
        raw = directory / "machines" / name / "raw"
        raw.mkdir(parents=True)
        clock = {"offset_ns": offset_ns, "drift": drift, "bound_ns": 1}
        peers = [{"machine": names[1 - number], "clock": clock}]
        (raw / "engine.json").write_text(json.dumps({"duration_ns": 10_000, "tunnel": {"peers": peers}}))
    return [
        machine_records._part(directory / "machines" / name, number, names)
        for number, name in enumerate(names)
    ]


def test_a_flow_that_is_sent_here_and_delivered_there_is_one(tmp_path: Path) -> None:
    parts = recorded(tmp_path)
    first, second = (part.raw for part in parts)
    raw = tmp_path / "raw"
    raw.mkdir()
    table(
        first / "flow_counts.csv",
        FLOW_COLUMNS,
        "1,6,10.0.0.1,4,10.0.0.2,5,100,900,800,,50,5000,0,0,3",
        "2,6,10.0.0.2,5,10.0.0.1,4,0,0,,,0,0,0,20,0",
    )
    table(
        second / "flow_counts.csv",
        FLOW_COLUMNS,
        "1,6,10.0.0.2,5,10.0.0.1,4,120,950,,940,21,2100,4000,0,1",
        "9,6,10.0.0.1,4,10.0.0.2,5,0,0,,,0,0,0,45,2",
    )
    table(first / "flow_samples.csv", SAMPLE_COLUMNS, "100,1,10,100,0,0,0,0,1", "300,1,50,500,0,0,0,0,3")
    table(second / "flow_samples.csv", SAMPLE_COLUMNS, "200,9,0,0,0,0,8,80,0", "400,9,0,0,0,0,45,450,2")
    numbers = machine_records._merge_flows(raw, parts)
    machine_records._merge_flow_samples(raw, parts, numbers)
    there, back = rows(raw / "flow_counts.csv")
    assert (there["source"], there["sent_packets"], there["delivered_packets"], there["lost_packets"]) == (
        "10.0.0.1", "50", "45", "5",
    )  # fmt: skip
    assert (there["first_ns"], there["last_new_ns"]) == ("100", "800")
    assert (back["sent_packets"], back["delivered_packets"], back["acknowledged_bytes"]) == (
        "21",
        "20",
        "4000",
    )
    assert (back["first_ns"], back["last_acknowledged_ns"]) == ("120", "940")
    found = [
        (each["t_ns"], each["sent_packets"], each["delivered_packets"])
        for each in rows(raw / "flow_samples.csv")
    ]
    assert found == [("100", "10", "0"), ("200", "10", "8"), ("300", "50", "8"), ("400", "50", "45")]


def test_times_become_those_of_the_first_machine(tmp_path: Path) -> None:
    _, second = recorded(tmp_path, offset_ns=500.0, drift=0.01)
    # At the end they differ by 500 ns, 1000 ns before by 10 ns less.
    assert second.first_machines(10_000) == 10_500
    assert second.first_machines(9_000) == 9_490
    parts = recorded(tmp_path / "equal")
    for part in parts:
        table(part.raw / "samples.csv", "t_ns,link", f'{part.number},"a,b"')
    (tmp_path / "raw").mkdir()
    machine_records._concatenate(tmp_path / "raw" / "samples.csv", parts)
    assert rows(tmp_path / "raw" / "samples.csv") == [
        {"t_ns": "0", "link": "a,b"}, {"t_ns": "1", "link": "a,b"},
    ]  # fmt: skip


def capture(path: Path, *times_ns: int) -> None:
    def block(kind: int, body: bytes) -> bytes:
        size = struct.pack("<I", 12 + len(body))
        return struct.pack("<I", kind) + size + body + size

    packets = [
        block(6, struct.pack("<IIIII", 0, ns >> 32, ns & 0xFFFF_FFFF, 4, 4) + b"data") for ns in times_ns
    ]
    path.write_bytes(b"".join([block(0x0A0D0D0A, bytes(16)), block(1, bytes(8)), *packets]))


def test_captures_of_two_machines_are_one_in_order_of_time(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    capture(first, 10, 1 << 33)
    capture(second, 5, 20)
    # Cut within a packet, as by a full disk.
    first.write_bytes(first.read_bytes() + b"\6\0\0\0\x99")
    out = io.BytesIO()
    pcapng.merge([(first, lambda ns: ns), (second, lambda ns: ns + 100)], out)
    kinds = [
        (kind, struct.unpack_from("<II", block, 12) if kind == 6 else None)
        for kind, block in pcapng.blocks(out.getvalue())
    ]
    assert kinds == [(0x0A0D0D0A, None), (1, None), (6, (0, 10)), (6, (0, 105)), (6, (0, 120)), (6, (2, 0))]


def test_directories_travel_and_stay_where_they_are_put(tmp_path: Path) -> None:
    (tmp_path / "from/raw").mkdir(parents=True)
    (tmp_path / "from/raw/a.csv").write_text("x" * 2_000_000)
    parts = list(packed(tmp_path / "from", ["raw", "absent"]))
    (tmp_path / "to").mkdir()
    unpack(parts, tmp_path / "to")
    assert (tmp_path / "to/raw/a.csv").read_text() == "x" * 2_000_000
    with pytest.raises(ValueError, match="damaged"):
        unpack([parts[0][: len(parts[0]) // 2 // 4 * 4]], tmp_path / "to")


def test_an_archive_writes_nothing_outside(tmp_path: Path) -> None:
    import base64
    import tarfile

    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        entry = tarfile.TarInfo("../outside")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    (tmp_path / "to").mkdir()
    with pytest.raises(ValueError, match="damaged"):
        unpack([base64.b64encode(content.getvalue()).decode()], tmp_path / "to")
    assert not (tmp_path / "outside").exists()


def test_what_several_engines_simulated_is_summed() -> None:
    def engine(lateness: list[int], reached_ns: int, fates: list[Any], **more: Any) -> Json:
        simulated = {"lateness": distribution(lateness), "reached_ns": reached_ns, "damaged": 1}
        return {"simulated": simulated, "echo_fates": fates, "replays": {}, "flows": [], **more}

    first = engine([10, 30], 900, [[7, "lost", 2]])
    second = engine([20], 800, [[7, "lost", 1], [8, "down", 4]], replays={"steady": {"without_memory": 0}})
    found = machine_records._simulated([first, second])
    assert found["simulated"]["lateness"]["count"] == 3
    assert (found["simulated"]["reached_ns"], found["simulated"]["damaged"]) == (800, 2)
    assert found["echo_fates"] == [[7, "lost", 3], [8, "down", 4]]
    assert list(found["replays"]) == ["steady"]
    assert machine_records._simulated([{"flow_names": []}]) == {}


def test_an_iteration_has_ended_when_the_ranks_of_all_machines_have_finished_it() -> None:
    def part(number: int, ends_ns: list[int], *, has_ranks: bool = True, offset_ns: float = 0) -> Any:
        job = {"name": "sum", "ranks": 3, "repeat": 3, "start_ns": 100}
        engine = {"jobs": [{**job, "has_ranks": has_ranks, "ends_ns": ends_ns}], "duration_ns": 10_000}
        return machine_records._Part(number, f"m{number}", Path(), engine, offset_ns, 0.0)

    first = part(0, [1_100, 2_500, 3_000])
    without = part(1, [], has_ranks=False)
    # Its clock is 50 ns behind the first one's.
    second = part(2, [1_350, 2_050], offset_ns=50)
    (found,) = machine_records._job_results([first, without, second])["jobs"]
    assert (found["iterations"], found["iteration_ns"], found["wall_ns"]) == (2, [1_300, 1_100], None)
    ended = part(2, [1_350, 2_050, 3_050], offset_ns=50)
    (found,) = machine_records._job_results([first, without, ended])["jobs"]
    assert (found["iteration_ns"], found["wall_ns"]) == ([1_300, 1_100, 600], 3_000)
    assert found["iteration"]["max_ns"] == 1_300
    none = machine_records._Part(0, "m0", Path(), {"flow_names": []}, 0.0, 0.0)
    assert machine_records._job_results([none]) == {}
