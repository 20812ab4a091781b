"""Tables of runs and sweeps as data frames: pip install pandas polars.

They are not in the environment of tests: where pandas is installed, pyarrow imports it in every process.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pytest

import longhaul
from longhaul.errors import LonghaulError
from longhaul.results.frames import frame

TEXT = """\
version: 1
name: pair
duration: 1s
params: {cc: cubic}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}, probe: {kind: ping, from: a, to: b, every: 100ms}}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "pair.yaml"
    path.write_text(TEXT)
    return path


def test_tables_of_a_run_are_frames_with_the_same_columns(scenario: Path, tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    result = longhaul.run_sim(scenario, runs=tmp_path / "runs", report=False)
    columns = result.table("probes")
    found, other = result.frame("probes"), result.frame("probes", "polars")
    assert (type(found), type(other)) == (pandas.DataFrame, polars.DataFrame)
    assert list(found.columns) == other.columns == list(columns)
    assert found["rtt_ns"].tolist() == other["rtt_ns"].to_list() == columns["rtt_ns"]
    with pytest.raises(KeyError, match="probes"):
        result.frame("prob")


def test_tables_of_a_sweep_are_frames(scenario: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    swept = longhaul.sweep(scenario, axes={"cc": ["cubic", "reno"]}, runs=tmp_path / "runs", report=False)
    means = swept.frame().set_index(["axis_cc", "metric"])["mean"]
    assert means["reno", "flows.bulk.goodput"] > 1e6
    assert swept.frame("parts", "polars")["seed"].len() == len(swept.table("parts")["seed"])


def test_whole_numbers_stay_whole_where_values_are_missing() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    exact = 2**60 + 1
    table = pa.table({"t_ns": pa.array([exact, None]), "seed": pa.array([2**64 - 1, 1], pa.uint64())})
    found = frame(table)
    assert found["t_ns"][0] == exact
    assert found["t_ns"].isna().tolist() == [False, True]
    assert found["seed"][0] == 2**64 - 1
    assert frame(table, "polars")["t_ns"].to_list() == [exact, None]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named_with_its_remedy(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pyarrow looks for pandas itself when it makes its first table.
    table = pa.table({"x": [1]})
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(LonghaulError) as refused:
        frame(table, library)  # type: ignore[arg-type]
    assert f'pip install "longhaul[{library}]"' in refused.value.headline


def test_another_library_is_refused() -> None:
    with pytest.raises(ValueError, match=r"name .pandas. or .polars."):
        frame(pa.table({"x": [1]}), "numpy")  # type: ignore[arg-type]
