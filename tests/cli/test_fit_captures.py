"""`longhaul fit` of a capture: which flow, which losses, which gaps; and what it refuses."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from longhaul.analysis.captures import chosen, loss_gaps
from longhaul.errors import LonghaulError
from longhaul.traces.captures import is_capture, read_capture, write_losses
from longhaul.traces.gaps import read_gaps

from .captures import transfer
from .conftest import Command

LOST = [int(place) for place in np.cumsum(np.random.default_rng(5).integers(60, 100, 23))]
NAME = "10.0.0.1:40000-10.0.0.2:5201"
TURNED = "10.0.0.2:5201-10.0.0.1:40000"


@pytest.fixture
def capture_file(work: Path) -> Path:
    path = work / "transfer.pcap"
    transfer(path, LOST)
    return path


def test_gaps_in_packets_are_those_of_the_lost_packets(capture_file: Path) -> None:
    capture = read_capture(capture_file)
    flow = chosen(capture)
    # Each repetition before it is one packet more.
    sent = [place + sum(other + 50 < place for other in LOST) for place in LOST]
    assert flow.losses.flow_packets.tolist() == sent
    assert loss_gaps(capture, flow, unit="packets").values.tolist() == np.diff(sent).tolist()
    seconds = loss_gaps(capture, flow, unit="s")
    assert seconds.values == pytest.approx(np.diff(LOST) / 1e3, abs=1e-9)
    assert loss_gaps(capture, flow, unit="ms").values == pytest.approx(np.diff(LOST), abs=1e-6)


def test_losses_within_a_round_trip_are_one_event(work: Path) -> None:
    transfer(work / "bursts.pcap", [100, 101, 120, 300, 500, 510])
    capture = read_capture(work / "bursts.pcap")
    flow = chosen(capture)
    assert flow.rtt_min_s == pytest.approx(0.04)
    for options in ({"merge_rtt": True}, {"merge": 0.04}):
        merged = loss_gaps(capture, flow, **options)
        assert merged.values == pytest.approx([0.2, 0.2])
        assert merged.notes[0] == "6 losses are 3 events"
    # In packets, too, it is time that joins them: each gap has as many repetitions.
    assert loss_gaps(capture, flow, unit="packets", merge_rtt=True).values.tolist() == [203, 201]


def test_the_list_of_losses_can_be_read_again(capture_file: Path, work: Path) -> None:
    capture = read_capture(capture_file)
    flow = chosen(capture)
    for name in ("losses.csv", "losses.parquet"):
        write_losses(work / name, capture, flow)
        for column, unit in (("t_s", "s"), ("flow_packets", "packets")):
            again = read_gaps(work / name, times=True, column=column, unit=unit)
            assert again.values == pytest.approx(loss_gaps(capture, flow, unit=unit).values, rel=1e-9)
    table = pq.read_table(work / "losses.parquet").to_pydict()
    assert set(table["place"]) == {"beyond"}
    assert set(table["flow"]) == {NAME}
    with pytest.raises(LonghaulError, match="name a file in a folder that is there"):
        write_losses(work / "no" / "losses.csv", capture, flow)


def test_packed_files_and_descriptors_are_read_alike(capture_file: Path, work: Path) -> None:
    packed = work / "transfer.pcap.gz"
    packed.write_bytes(gzip.compress(capture_file.read_bytes()))
    assert is_capture(packed)
    read = []
    assert len(chosen(read_capture(packed, progress=read.append)).losses.at_ns) == len(LOST)
    assert read[-1] == packed.stat().st_size
    with capture_file.open("rb") as file:
        assert len(chosen(read_capture(file.fileno())).losses.at_ns) == len(LOST)
    (work / "cut.pcap.gz").write_bytes(packed.read_bytes()[:-2000])
    assert "the file breaks off within a packet, at byte" in read_capture(work / "cut.pcap.gz").notes[0]


def test_a_capture_is_fitted_like_any_gaps(longhaul: Command, capture_file: Path, work: Path) -> None:
    result = longhaul("fit", "transfer.pcap", "--unit", "packets", "--replicates", "99", "--losses", "l.csv")
    assert result.returncode == 0, result.stderr
    assert f"{NAME}: 2,023 packets in 1.999 s, captured at the sender" in result.stdout
    assert "23 lost (0.011 of its packets), 23 retransmitted, 0 of these spurious" in result.stdout
    assert f"transfer.pcap, {NAME}: 22 gaps" in result.stdout
    assert "unit: packets" in result.stdout
    assert (work / "l.csv").read_text().startswith("t_s,flow_packets,all_packets,position_bytes,")
    told = json.loads(longhaul("fit", "transfer.pcap", "--replicates", "0", "--json").stdout)
    assert told["gaps"]["count"] == 22
    assert told["capture"]["flow"]["view"] == "sender"
    assert told["capture"]["flow"]["losses"] == 23


def test_several_connections_are_listed_and_one_is_named(
    longhaul: Command, capture_file: Path, work: Path
) -> None:
    transfer(capture_file, LOST[:21], port=40001, append=True)
    result = longhaul("fit", "transfer.pcap")
    assert result.returncode == 2
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [
        ["1", NAME],
        ["2", NAME.replace("40000", "40001")],
    ]
    assert "has 2 connections with data; name one with --flow" in result.stderr
    for flow in ("2", NAME.replace("40000", "40001")):
        told = json.loads(
            longhaul("fit", "transfer.pcap", "--flow", flow, "--replicates", "0", "--json").stdout
        )
        assert told["capture"]["flow"]["losses"] == 21
    everything = json.loads(
        longhaul(
            "fit", "transfer.pcap", "--flow", "all", "--unit", "packets", "--replicates", "0", "--json"
        ).stdout
    )
    assert everything["gaps"]["count"] == 43


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--flow", "7"], f"has no flow 7; there is {NAME}, for example"),
        (["--flow", TURNED], f"no data went that way: {TURNED}; write --flow {NAME}"),
        (["--direction", "reverse"], "10.0.0.2:5201 sent no data to 10.0.0.1:40000; leave out --direction"),
        (["--flow", "all", "--direction", "reverse"], "the flows have different directions; leave out"),
        (["--interface", "eth7"], 'has no TCP data of interface "eth7"; there are: 0'),
        (["--unit", "min"], '"min" is not a unit of gaps; write s or packets'),
        (["--merge", "9"], f"the 23 losses of {NAME} are one event; merge within a shorter span"),
        (["--merge", "long"], "'long' is not a span; write for example 0.065, or rtt for a capture"),
        (["--times"], "a capture has no columns; leave out --times"),
        (["--losses", "no/l.csv"], "name a file in a folder that is there"),
    ],
)  # fmt: skip
def test_wrong_questions_get_one_line(
    longhaul: Command, capture_file: Path, arguments: list[str], words: str
) -> None:
    result = longhaul("fit", "transfer.pcap", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_wrong_files_get_one_line_with_the_place(longhaul: Command, capture_file: Path, work: Path) -> None:
    whole = capture_file.read_bytes()
    (work / "damaged.pcap").write_bytes(whole[: 24 + 56 + 8] + b"\xff" * 90)
    (work / "text.gz").write_bytes(gzip.compress(b"t_s\n1\n2\n" * 9))
    (work / "none.pcap").write_bytes(whole[:24])
    transfer(work / "one.pcap", [100])
    (work / "gaps.txt").write_text("1\n2\n3\n")
    for arguments, words in (
        (["damaged.pcap"], "damaged.pcap: at byte 80: a packet of 4294967295 captured bytes; the file is"),
        (["text.gz"], "text.gz: at byte 0: this is not a capture; give a pcap or pcapng file"),
        (["none.pcap"], "none.pcap has no TCP data; capture at least"),
        (["one.pcap"], "has 1 losses in 2001 packets: no gap; fit a longer capture"),
        (["gaps.txt", "--unit", "s", "--flow", "1"], "this is not a capture; leave out --flow"),
        (["gaps.txt", "--unit", "s", "--merge", "rtt"], "this is not a capture; leave out --merge rtt"),
    ):  # fmt: skip
        result = longhaul("fit", *arguments)
        assert result.returncode == 2
        assert words in result.stderr
        assert "Traceback" not in result.stderr
    if os.geteuid() != 0:
        capture_file.chmod(0)
        with pytest.raises(LonghaulError, match="name a capture that can be read"):
            read_capture(capture_file)
    with pytest.raises(LonghaulError, match="no such file"):
        read_capture(work / "absent.pcap")
