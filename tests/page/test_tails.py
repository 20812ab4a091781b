"""The end of a file that is being written, and the windows that are read from it."""

import json
from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.page.json_requests import Asked
from longhaul.page.series import series
from longhaul.results.growing_files import last_rows

SOCKETS = (
    "t_ns,host,socket,local,remote,state,cc,cwnd_segments,ssthresh_segments,rtt_us,retransmits,delivery_bits_per_s\n"
    "100000000,near,18446744073709551615,10.0.0.1:99,10.0.1.1:5201,established,bbr,10,,77,0,\n"
    "200000000,near,18446744073709551615,10.0.0.1:99,10.0.1.1:5201,established,bbr,12,7,78,1,4000\n"
    "300000000,near,184467440737"
)


@settings(deadline=None)
@given(rows=st.integers(0, 60), cut=st.integers(0, 40), most=st.integers(8, 300))
def test_a_tail_has_the_last_whole_rows_that_fit(
    rows: int, cut: int, most: int, tmp_path_factory: object
) -> None:
    text = "a,b\n" + "".join(f"{row},x{row}\n" for row in range(rows))
    text = text[: len(text) - min(cut, len(text))]
    path = Path(tmp_path_factory.getbasetemp()) / "tail.csv"  # type: ignore[attr-defined]
    path.write_text(text)
    whole = text[: text.rfind("\n") + 1].splitlines()[1:]
    room, fitting = text[4:], 0
    # What lies wholly in the last bytes; a row whose newline before it is cut off does not.
    size = 0 if len(text) < 4 else len(room) - (room.rfind("\n") + 1)
    for line in reversed(whole):
        size += len(line) + 1
        if size > most or (size == most and size < len(room)):
            break
        fitting += 1
    table = last_rows(path, {"a": pa.int64(), "b": pa.string()}, most_bytes=most)
    found = [] if table is None else [f"{a},{b}" for a, b in zip(*table.to_pydict().values(), strict=True)]
    assert found == whole[len(whole) - fitting :]


def test_windows_of_a_live_run_are_there_while_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "plan.json").write_text(json.dumps({"nodes": [{"name": "far", "ipv4": "10.0.1.1"}]}))
    (tmp_path / "raw" / "sockets.csv").write_text(SOCKETS)
    (found,) = series(tmp_path, Asked(query={"table": "sockets"}))["series"]
    assert (found["host"], found["to"], found["cc"]) == ("near", "far", "bbr")
    assert found["t_ns"] == [100_000_000, 200_000_000]
    assert found["columns"]["cwnd_segments"] == [10, 12]
    assert found["columns"]["ssthresh_segments"] == [None, 7]
    assert found["columns"]["rtt_ns"] == [77_000, 78_000]


def test_windows_of_a_simulation_are_there_while_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "flows.csv").write_text(
        "t_ns,flow,stream,window_segments,rtt_ns,retransmits\n10,a,0,10,,0\n20,a,0,20,5,1\n20,b,0,30,5,0\n2"
    )
    found = series(tmp_path, Asked(query={"table": "flows"}))["series"]
    assert [(each["name"], each["columns"]["window_segments"]) for each in found] == [
        ("a", [10, 20]),
        ("b", [30]),
    ]
