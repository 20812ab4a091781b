"""Traces as files: whole at any end."""

import hashlib
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.collection import Pace, keep_probing
from longhaul.traces.collect.iperf3 import convert_iperf3, read_iperf3
from longhaul.traces.collect.prober import Sample
from longhaul.traces.collect.trace_file import Link, TraceFile

LINK = Link("a", "b")


class Scripted:
    """Gives samples, and then what a script says."""

    def __init__(self, samples: int, then: BaseException) -> None:
        self.left, self.then = samples, then
        self.at_ns = 0

    def measure(self) -> list[Sample]:
        if not self.left:
            raise self.then
        self.left -= 1
        self.at_ns += 10**9
        return [Sample(self.at_ns, 20 * 10**6, 9.5e6)]

    def rest(self, until_ns: int) -> None:
        raise AssertionError("there is no period")

    def finish(self) -> list[Sample]:
        return []


def probed(path: Path, samples: int, then: BaseException) -> TraceFile:
    file = TraceFile(path, [LINK], "ping", 0, 0)
    pace = Pace(period_ns=0, end_ns=None, count=None)
    keep_probing([(LINK, Scripted(samples, then))], pace, file, {}, lambda _line: None)
    return file


def test_rows_ascend_and_empty_values_are_gaps(tmp_path: Path) -> None:
    file = TraceFile(tmp_path / "t.csv", [LINK], "nws", 60 * 10**9, 1000)
    file.write(LINK, Sample(1000, 36_520_000, 2.32e6))
    file.write(LINK, Sample(1000, None, None, "no answer in time"))
    file.write(LINK, Sample(60 * 10**9 + 1000, 36_410_000))
    assert not (tmp_path / "t.csv").exists()
    file.finish({"started_utc": "2026-01-01T00:00:00+00:00"})
    text = (tmp_path / "t.csv").read_text()
    assert text == (
        "# wantrace 1\n# link a b tool=nws period_s=60\nt_s,rtt_ms,rate_mbit\n"
        "0.000000,36.520000,2.320000\n0.000001,,\n60.000000,36.410000,\n"
    )
    about = json.loads((tmp_path / "t.json").read_text())
    assert about["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert about["links"] == [{"src": "a", "dst": "b", "rows": 3, "rtt": 2, "rate": 1, "failed": 1}]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.csv", "t.json"]


def test_ctrl_c_leaves_whole_rows(tmp_path: Path) -> None:
    file = probed(tmp_path / "t.csv", 3, KeyboardInterrupt())
    assert file.rows == 3
    assert (tmp_path / "t.csv").read_text().splitlines()[-1] == "3.000000,20.000000,9.500000"
    assert json.loads((tmp_path / "t.json").read_text())["ended"] == "interrupted"


def test_nothing_measured_leaves_nothing(tmp_path: Path) -> None:
    probed(tmp_path / "t.csv", 0, KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_an_error_keeps_the_rows_before_it(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match=r"refused; the 2 rows before are in .*t\.csv; try again"):
        probed(tmp_path / "t.csv", 2, LonghaulError(Code.PEER_REFUSED, "refused", remedy="try again"))
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 5
    with pytest.raises(LonghaulError, match=r"^refused$"):
        probed(tmp_path / "u.csv", 0, LonghaulError(Code.PEER_REFUSED, "refused"))
    assert not list(tmp_path.glob("*u.csv*"))


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_one_error_and_rows_stay_whole(tmp_path: Path) -> None:
    # Python ignores SIGXFSZ: writing fails as on a full disk, in the middle of a row.
    with files_of_at_most(200), pytest.raises(LonghaulError, match=r"cannot write .*t\.csv: file too large"):
        probed(tmp_path / "t.csv", 1000, AssertionError("it must have ended"))
    lines = (tmp_path / "t.csv").read_text().split("\n")
    assert lines[-1] == ""
    # 63 bytes of heading, 31 for each of the first rows.
    assert len(lines[3:-1]) == (200 - len("\n".join(lines[:3]) + "\n")) // len(lines[3] + "\n")
    assert all(line.count(",") == 2 and line.endswith("9.500000") for line in lines[3:-1])


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="no such file or directory; name a file in a folder"):
        TraceFile(tmp_path / "no" / "t.csv", [LINK], "nws", 0, 0)


def iperf3(**test: int) -> dict[str, object]:
    def interval(start: float, omitted: bool) -> dict[str, object]:
        total = {
            "start": start,
            "end": start + 1,
            "seconds": 1.0,
            "bits_per_second": 8e6 * start,
            "omitted": omitted,
        }
        streams = [{"rtt": 20_000, "sender": True}, {"rtt": 30_000, "sender": True}, {"sender": False}]
        back = {**total, "bits_per_second": 1e6} if test.get("bidir") else None
        return {"sum": total, "streams": streams, **({"sum_bidir_reverse": back} if back else {})}

    return {
        "start": {
            "connected": [{"local_host": "10.0.0.1", "remote_host": "10.0.0.2"}],
            "timestamp": {"timesecs": 0},
            "test_start": {"protocol": "TCP", "num_streams": 2, **test},
        },
        "intervals": [interval(0, omitted=True), interval(0, omitted=False), interval(1, omitted=False)],
    }


def test_iperf3_intervals_become_rows(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(iperf3()))
    assert convert_iperf3(tmp_path / "r.json", tmp_path / "t.csv", force=False) == 2
    # Round trips of streams are averaged; an interval without a bit is a gap in the rate.
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == [
        "# link 10.0.0.1 10.0.0.2 tool=iperf3 period_s=1",
        "t_s,rtt_ms,rate_mbit",
        "0.000000,25.000000,",
        "1.000000,25.000000,8.000000",
    ]


def test_a_report_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(iperf3()))
    with pytest.raises(LonghaulError, match=r"r\.json would be written over; choose another name"):
        convert_iperf3(tmp_path / "r.json", tmp_path / "r.csv", force=True)


def test_iperf3_in_reverse_and_both_ways(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(iperf3(reverse=1)))
    assert read_iperf3(tmp_path / "r.json").links == (Link("10.0.0.2", "10.0.0.1"),)
    (tmp_path / "r.json").write_text(json.dumps(iperf3(bidir=1)))
    found = read_iperf3(tmp_path / "r.json")
    assert len(found.links) == 2
    assert [(link.source, sample.bits_per_s) for link, sample in found.rows[2:]] == [
        ("10.0.0.1", 8e6),
        ("10.0.0.2", 1e6),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a report of iperf3"),
        ('{"error": "unable to connect"}', "iperf3 has failed: unable to connect"),
        ('{"start": {}, "intervals": []}', "is not a report of iperf3"),
    ],
)
def test_what_is_no_report_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(LonghaulError, match=words):
        convert_iperf3(tmp_path / "r.json", tmp_path / "t.csv", force=False)
    assert not (tmp_path / "t.csv").exists()
