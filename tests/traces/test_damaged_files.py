"""Traces in CSV and Parquet from elsewhere: whatever is in them, they are read or refused."""

import json
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.scenario.traces import Trace, Way
from longhaul.scenario.traces.files import content_of, read_traces

TRACES = tuple(
    Trace((0.0, 1.0, 2.5), {"rtt_ms": (5.0, None, 7.0), "rate_mbit": (100.0, 90.0, 80.0)}, Way("par", end))
    for end in ("nyc", "tromsø")
)
WHOLE = {suffix: content_of(suffix, TRACES) for suffix in (".csv", ".parquet")}
WORDS = st.sampled_from(
    ["t_s", "rtt_ms", "src", "dst", "0", "1", "-1", "5e3", "1e400", "nan", "inf", '"', "#", "", "par", "٣"]
)


def outcome(suffix: str, content: bytes) -> str:
    """``good``, or why the file is refused."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"x{suffix}")
        path.write_bytes(content)
        try:
            traces = read_traces(str(path)).traces
        except LonghaulError as error:
            return str(error)
    for trace in traces:
        assert all(earlier < later for earlier, later in zip(trace.times_s, trace.times_s[1:], strict=False))
        assert all(each is None or 0 <= each < float("inf") for row in trace.columns.values() for each in row)
        if trace.way:
            assert isinstance(trace.period_s(), int | float)
            assert all(isinstance(end, str) and end for end in trace.way.ends)
    return "good"


def written(table: pa.Table, notes: bytes | None) -> bytes:
    """``table`` as Parquet, with ``notes`` on links in its metadata."""
    if notes is not None:
        table = table.replace_schema_metadata({b"longhaul.trace": notes})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("suffix", WHOLE)
def test_the_files_that_are_damaged_here_are_good(suffix: str) -> None:
    assert outcome(suffix, WHOLE[suffix]) == "good"


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_damaged_traces_are_read_or_refused(suffix: str, data: st.DataObject) -> None:
    whole = WHOLE[suffix]
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, min(len(whole), begin + 20)))
    outcome(suffix, whole[:begin] + data.draw(st.binary(max_size=8)) + whole[end:])


@pytest.mark.parametrize(("row", "end"), [("1,,nyc,,90", "src"), ("1,par,,,90", "dst")])
def test_a_row_that_lacks_an_end_is_refused_with_its_line(row: str, end: str) -> None:
    damaged = WHOLE[".csv"].replace(b"1,par,nyc,,90", row.encode())
    assert f":6:1: a link without {end}; name both ends" in outcome(".csv", damaged)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=5), max_size=5))
@example([["src", "dst", "t_s", "rtt_ms"], ["par", '"' + 140_000 * "x" + '"', "0", "1"]])
def test_any_table_of_text_is_read_or_refused(rows: list[list[str]]) -> None:
    outcome(".csv", "\n".join(",".join(row) for row in rows).encode())


COLUMNS = st.one_of(
    st.lists(st.none() | st.floats(), min_size=2, max_size=2),
    st.lists(st.none() | st.text(max_size=3), min_size=2, max_size=2),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2),
    st.sampled_from(
        [
            pa.array([[1.0], []]),
            pa.array([{"a": 1}, None]),
            pa.array([b"par", b"\xff"]),
            pa.array([date(2020, 1, 1), None]),
            pa.array([True, False]),
            pa.array(["a", "b"]).dictionary_encode(),
            # Not UTF-8, though the file says so.
            pa.array([b"par", b"\xff"]).view(pa.string()),
        ]
    ),
)
LINK = {"source": "a", "destination": "b", "tool": None, "period_s": None}
NOTES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [
            [],
            {},
            {"links": 5},
            {"links": [5]},
            {"links": [{}]},
            {"links": [{"source": 1, "destination": [], "tool": {}, "period_s": "x"}]},
            {"links": [{**LINK, "more": 1}]},
            {"links": [LINK]},
        ]
    ).map(lambda notes: json.dumps(notes).encode()),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["t_s", "t_s", "rtt_ms", "rate_mbit", "src", "dst", "x"]), COLUMNS),
        max_size=5,
    ),
    st.none() | NOTES,
)
@example([("t_s", [0.0, 1.0]), ("rtt_ms", [1.0, 2.0])], b"{")
@example([("t_s", [0.0, 1.0]), ("rtt_ms", [1.0, 2.0])], b'{"links": [{}]}')
@example(
    [("t_s", [0.0, 1.0]), ("rtt_ms", [1.0, 2.0]), ("src", pa.array([[1], [2]])), ("dst", ["a", "b"])], None
)
@example([("t_s", [0.0, 1.0]), ("t_s", [0.0, 1.0]), ("rtt_ms", [1.0, 2.0])], None)
def test_any_parquet_file_is_read_or_refused(columns: list[tuple[str, Any]], notes: bytes | None) -> None:
    arrays = [each if isinstance(each, pa.Array) else pa.array(each) for _name, each in columns]
    table = pa.Table.from_arrays(arrays, names=[name for name, _each in columns])
    outcome(".parquet", written(table, notes))


def test_a_value_that_is_too_long_is_refused_at_its_line() -> None:
    content = b'src,dst,t_s,rtt_ms\npar,nyc,0,1\npar,"' + 140_000 * b"x" + b'",1,1\n'
    assert ":3:1: a value has more than 131072 characters; shorten it" in outcome(".csv", content)
    content = b't_s,rtt_ms\n"' + 140_000 * b"x" + b'",1\n'
    # Of a file that is not a table of numbers no line is shown.
    assert outcome(".csv", content).endswith(
        ":2:1: a value has more than 131072 characters; shorten it [E0806]"
    )


@pytest.mark.parametrize(
    ("columns", "notes", "message"),
    [
        ({"src": [[1], [2]], "dst": ["a", "b"]}, None, "name a Parquet file with t_s, rtt_ms and rate_mbit"),
        ({"src": ["a", None], "dst": ["b", "b"]}, None, "row 2: a link without src; name both ends"),
        ({}, b"{", "its notes on links are damaged; write it with longhaul trace convert"),
        ({}, b'{"links": [{}, {"source": 1}]}', "its notes on links are damaged"),
    ],
)
def test_what_is_wrong_in_a_parquet_file_is_named(
    columns: dict[str, list[Any]], notes: bytes | None, message: str
) -> None:
    table = pa.table({"t_s": [0.0, 1.0], "rtt_ms": [1.0, 2.0], **columns})
    assert message in outcome(".parquet", written(table, notes))
