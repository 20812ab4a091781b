"""What a run wrote is read up to where it was cut off, and without its damaged lines, which are counted."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from longhaul.results.raw_tables import Records, read_recorded
from longhaul.results.summary import as_samples

HEADER = "t_ns,link,way,lost_packets"


def records(place: Path, text: str | bytes, *, file: str = "samples") -> Records:
    (place / "raw").mkdir(exist_ok=True)
    (place / "raw" / f"{file}.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return Records(place, {"link": ("wan", "lan"), "way": ("forward", "reverse")})


@pytest.mark.parametrize("cut", ["", "3", "3,wan,forward,30", "3,wan"])
def test_a_line_that_was_cut_off_costs_that_line_alone(tmp_path: Path, cut: str) -> None:
    found = records(tmp_path, f"{HEADER}\n1,wan,forward,100\n2,wan,forward,200\n{cut}")
    assert {name: column.tolist() for name, column in as_samples(found.table("samples")).items()} == {
        "t_ns": [1, 2],
        "link": ["wan", "wan"],
        "way": ["forward", "forward"],
        "lost_packets": [100, 200],
    }
    assert found.damaged_lines == {}, "a run that was killed damaged nothing"


def test_many_lines_are_read_whole(tmp_path: Path) -> None:
    # More than is looked at for the last end of a line.
    path = tmp_path / "long.csv"
    path.write_text("t_ns\n" + "".join(f"{number}\n" for number in range(50_000)) + "50")
    table = read_recorded(path)
    assert table is not None
    assert table.column("t_ns").to_pylist() == list(range(50_000))


@pytest.mark.parametrize(
    "line",
    [
        b"2,wan",
        b"2,wan,forward,1,1",
        b"two,wan,forward,1",
        b"2.5,wan,forward,1",
        b"99999999999999999999,wan,forward,1",
        b"2,wen,forward,1",
        b"2,wan,forwarf,1",
        b"2,w\xffn,forward,1",
        b"2,w\0n,forward,1",
        b'2,"wan,forward,1',
        b'2,wan,forward,"1',
        b"",
        b",,,",
        bytes(3000),
    ],
)
def test_a_damaged_line_is_left_out_and_counted(tmp_path: Path, line: bytes) -> None:
    good = [b"1,wan,forward,100", b"3,lan,reverse,300"]
    found = records(tmp_path, b"\n".join([HEADER.encode(), good[0], line, good[1], b""]))
    table = found.table("samples")
    assert table is not None
    assert table.column("t_ns").to_pylist() == [1, 3]
    assert table.column("lost_packets").to_pylist() == [100, 300]
    assert table.schema.field("t_ns").type == pa.int64()
    assert found.damaged_lines == {"raw/samples.csv": 1}


def test_a_table_without_its_header_has_no_rows_and_all_lines_are_damaged(tmp_path: Path) -> None:
    for header in ("t_ns,link,wax,lost_packets", "t_ns,link,way,way", "\0"):
        found = records(tmp_path, f"{header}\n1,wan,forward,100\n2,wan,forward,200\n")
        assert found.table("samples", ("t_ns", "link", "way")) is None
        assert found.damaged_lines == {"raw/samples.csv": 3}


@pytest.mark.parametrize("text", ["", "t_ns,by"])
def test_a_file_without_a_line_is_no_table(tmp_path: Path, text: str) -> None:
    found = records(tmp_path, text)
    assert found.table("samples", ("t_ns",)) is None
    assert Records(tmp_path).table("missing") is None
    assert found.damaged_lines == {}


def test_a_reason_with_a_comma_is_one_value(tmp_path: Path) -> None:
    header = "connection,listener,from,to,client,target,opened_ns,closed_ns,bytes_forward,bytes_back,end"
    row = '1,0,,,127.0.0.1:4001,,1,2,0,0,"the client speaks SOCKS 4, not ""5"""'
    found = records(tmp_path, f"{header}\n{row}\n", file="connections")
    table = found.table("connections")
    assert table is not None
    assert table.column("end").to_pylist() == ['the client speaks SOCKS 4, not "5"']
    assert found.damaged_lines == {}


def test_whatever_bytes_change_the_other_lines_are_read(tmp_path: Path) -> None:
    chance = random.Random(20)
    lines = [f"{n},{chance.choice(['wan', 'lan'])},forward,{n * n}".encode() for n in range(200)]
    for _trial in range(150):
        content = bytearray(b"\n".join([HEADER.encode(), *lines, b""]))
        touched = set()
        for _change in range(chance.randint(1, 6)):
            place = chance.randrange(len(HEADER) + 1, len(content))
            content[place] = chance.randrange(256)
            touched.add(place)
        found = records(tmp_path, bytes(content))
        table = found.table("samples")
        assert table is not None
        # A byte that ends or begins a line touches two.
        assert len(table) >= len(lines) - 2 * len(touched)
        assert len(table) + found.damaged_lines.get("raw/samples.csv", 0) >= len(lines) - len(touched)
        good = {line for line in lines if line in bytes(content).split(b"\n")}
        columns = [column.to_pylist() for column in table.columns]
        read = {",".join(map(str, row)).encode() for row in zip(*columns, strict=True)}
        assert good <= read
