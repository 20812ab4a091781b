"""Traces from text: what is read, and what is said of what cannot be."""

from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.scenario.traces import Trace, Way
from longhaul.scenario.traces.files import content_of, read_named, read_traces, write_sidecar


def written(folder: Path, text: str, name: str = "t.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_trace_has_its_link_its_columns_and_its_gaps(tmp_path: Path) -> None:
    text = "# wantrace 1\n# link par nyc tool=ping period_s=60\nt_s,rtt_ms,rate_mbit\n0,76.3,\n60,,91.8\n"
    assert read_traces(written(tmp_path, text)).traces == (
        Trace(
            (0.0, 60.0),
            {"rtt_ms": (76.3, None), "rate_mbit": (None, 91.8)},
            Way("par", "nyc", "ping", 60.0),
        ),
    )


def test_units_are_those_of_the_columns_names(tmp_path: Path) -> None:
    text = "t_ms,rtt_us,rate_kbit\n500,1500,64\n1000,2500,128\n"
    assert read_traces(written(tmp_path, text)).traces == (
        Trace((0.5, 1.0), {"rtt_ms": (1.5, 2.5), "rate_mbit": (0.064, 0.128)}),
    )


def test_the_spellings_of_others_are_read(tmp_path: Path) -> None:
    (trace,) = read_traces(written(tmp_path, "t,latency_ms,bw_mbps\n0,36.52,2.32\n60,36.41,\n")).traces
    assert trace.columns == {"rtt_ms": (36.52, 36.41), "rate_mbit": (2.32, None)}


def test_a_file_of_several_links_is_a_trace_for_each(tmp_path: Path) -> None:
    text = "# link b a tool=nws\nt_s,src,dst,rtt_ms,rate_mbit\n0,a,b,3,\n0,b,a,4,8\n1,a,b,5,\n1,b,a,6,9\n"
    there, back = read_traces(written(tmp_path, text)).traces
    assert (there.way, there.times_s, there.columns) == (Way("a", "b"), (0, 1), {"rtt_ms": (3, 5)})
    assert (back.way, back.columns) == (Way("b", "a", "nws"), {"rtt_ms": (4, 6), "rate_mbit": (8, 9)})
    assert content_of(".csv", (there, back)).decode() == (
        "# wantrace 1\n# link a b\n# link b a tool=nws\nt_s,src,dst,rtt_ms,rate_mbit\n"
        "0,a,b,3,\n1,a,b,5,\n0,b,a,4,8\n1,b,a,6,9\n"
    )


def test_a_pause_of_more_than_ten_periods_is_doubtful(tmp_path: Path) -> None:
    text = "t_s,rtt_ms\n" + "".join(f"{at},5\n" for at in (0, 1, 2, 12, 13, 24))
    (warning,) = read_traces(written(tmp_path, text)).warnings
    # From 2 s to 12 s are ten periods; from 13 s to 24 s, in line 7, eleven.
    assert "t.csv:7: nothing for 11 s, more than 10 periods of 1 s; write rows" in warning


def test_a_column_that_is_not_read_is_named(tmp_path: Path) -> None:
    (warning,) = read_traces(written(tmp_path, "t_s,rtt_ms,cwnd\n0,5,10\n")).warnings
    assert "t.csv:1: column cwnd is not read" in warning


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t_s,rtt_ms\n0,5\n0,6\n", "t.csv:3:1: the time is not later than the one before; sort"),
        ("t_s,rtt_ms\n0,-5\n", 't.csv:2:3: "-5" is negative; write zero or more'),
        ("t_s,rtt_ms\n7,0\n", "t.csv:2:3: a round trip of 0; leave the value empty"),
        ("t_s,rtt_ms\n0,fast\n", 't.csv:2:3: "fast" is not a number; write one like'),
        ("t_s,rtt_ms\n0\n", "t.csv:2:1: has 1 value for 2 columns; write one for each"),
        ("t_s,rtt_ms\n0,\n1,\n", "t.csv:1:1: rtt_ms has no value; remove the column"),
        ("when,rtt\n0,5\n", "t.csv:1:1: there is no column of the time; call it t_s"),
        ("t_s,cwnd\n0,5\n", "t.csv:1:1: there is neither round trip, delay nor rate; name one rtt_ms"),
        ("# wantrace 2\nt_s,rtt_ms\n0,5\n", 't.csv:1:1: version "2" of traces is not known; write # wan'),
        ("# link a\nt_s,rtt_ms\n0,5\n", "t.csv:1:1: a link has two ends; write # link SOURCE DEST"),
        ("0,5\n", "t.csv:1:1: the first line is not a header; write the names"),
        ("\n# nothing\n", "t.csv:1:1: is empty; write a header"),
    ],
)
def test_what_is_wrong_has_its_line_and_a_remedy(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LonghaulError) as caught:
        read_traces(written(tmp_path, text))
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_there_or_no_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match=r"gone.csv: no such file or directory; name a file"):
        read_traces(str(tmp_path / "gone.csv"))
    (tmp_path / "b.csv").write_bytes(b"t_s,rtt_ms\n\xff\n")
    with pytest.raises(LonghaulError, match=r"b.csv is not text: byte 11 is not UTF-8; give CSV"):
        read_traces(str(tmp_path / "b.csv"))
    (tmp_path / "b.parquet").write_bytes(b"PAR")
    with pytest.raises(LonghaulError, match=r"b.parquet: .*; name a Parquet file with t_s"):
        read_traces(str(tmp_path / "b.parquet"))


def test_a_link_that_is_given_stands_for_the_files_own(tmp_path: Path) -> None:
    name = written(tmp_path, "# link a b tool=nws\nt_s,rtt_ms\n0,5\n")
    assert read_named(f"x:y={name}").traces[0].way == Way("x", "y", "nws")
    with pytest.raises(LonghaulError, match=r'"x" is not a link; write SOURCE:DESTINATION'):
        read_named(f"x={name}")


def test_a_trace_that_its_sidecar_is_not_about_is_refused(tmp_path: Path) -> None:
    from longhaul.traces.validation import validation

    name = written(tmp_path, "t_s,rtt_ms\n0,5\n")
    write_sidecar(Path(name), {"tool": "ping"})
    assert validation([name], as_json=False) == (f"{name}: good (1 row)", 0)
    Path(name).write_text("t_s,rtt_ms\n0,6\n", encoding="utf-8")
    text, exit_code = validation([name], as_json=False)
    assert "the SHA-256 differs; restore it" in text
    assert exit_code == 2
