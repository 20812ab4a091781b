"""What a run wrote is read up to where it was cut off."""

from pathlib import Path

import pyarrow as pa
import pytest

from longhaul.run.recorded import read_recorded
from longhaul.run.results import read_samples


@pytest.mark.parametrize("cut", ["", "3", "3,300", "3,30"])
def test_a_line_that_was_cut_off_costs_that_line_alone(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("t_ns,bytes\n1,100\n2,200\n" + cut)
    assert {name: column.tolist() for name, column in read_samples(path).items()} == {
        "t_ns": [1, 2],
        "bytes": [100, 200],
    }


def test_many_lines_are_read_whole(tmp_path: Path) -> None:
    # More than is looked at for the last end of a line.
    path = tmp_path / "long.csv"
    path.write_text("t_ns\n" + "".join(f"{number}\n" for number in range(50_000)) + "50")
    table = read_recorded(path, {"t_ns": pa.int64()})
    assert table is not None
    assert table.column("t_ns").to_pylist() == list(range(50_000))


@pytest.mark.parametrize("text", ["", "t_ns,by", "t_ns,bytes\n1,100,1000\n"])
def test_what_is_no_table_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "samples.csv"
    path.write_text(text)
    assert read_recorded(path) is None
    assert read_recorded(tmp_path / "missing.csv") is None
    assert read_samples(path) == {}
