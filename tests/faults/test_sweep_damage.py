"""A damaged, missing or copied part of a sweep is found, set aside and done again; no run counts twice."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from without_figures import part_files, resume, sweep

from longhaul.errors import LonghaulError
from longhaul.sweeps import parts
from longhaul.sweeps.job import as_parquet
from longhaul.sweeps.sweep import rewrite

pytestmark = pytest.mark.usefixtures("no_sync")

SCENARIO = """
version: 1
name: pair
duration: 1s
params: {loss: 0%}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 1ms, rate: 5Mbit, loss: $loss}}
traffic: {noise: {kind: udp, from: a, to: b, rate: 1Mbit, arrivals: poisson}}
sweep: {axes: {loss: [0%, 5%]}, repeat: 8}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole")
    (place / "pair.yaml").write_text(SCENARIO)
    return sweep(place / "pair.yaml", runs=place / "runs").directory


@pytest.fixture
def swept(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "swept")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    chance = random.Random(path.name)
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def copy(path: Path) -> None:
    stem, checksum = path.stem.rsplit("-", 1)
    shutil.copy(path, path.with_name(f"{stem[:3]}000900-{checksum}.parquet"))


def exchange(path: Path) -> None:
    others = [each for each in path.parent.iterdir() if each != path]
    path.write_bytes(others[0].read_bytes())


def rename(path: Path) -> None:
    path.rename(path.with_name("00-000007.parquet"))


@pytest.mark.parametrize("damage", [flip, cut, empty, copy, exchange, rename])
def test_a_damaged_part_is_set_aside_and_done_again(
    swept: Path, whole: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    damage(sorted((swept / "parts").iterdir())[2])
    assert resume(swept).exit_code == 0
    assert part_files(swept) == part_files(whole), "the same runs give the same part"
    assert len(list((swept / "damaged").iterdir())) == 1
    assert "its runs are repeated" in caplog.text
    assert (swept / "summary.parquet").read_bytes() == (whole / "summary.parquet").read_bytes()


def test_a_sweep_that_was_killed_and_is_resumed_leaves_nothing_half_written(swept: Path) -> None:
    part = min((swept / "parts").iterdir())
    half = part.with_name(f".{part.name}.999999999.00.part")
    part.rename(half)
    assert resume(swept).exit_code == 0
    assert part.exists()
    assert not half.exists()


def test_a_report_of_a_sweep_with_a_damaged_part_says_so_and_changes_no_part(swept: Path) -> None:
    flip(sorted((swept / "parts").iterdir())[2])
    before = part_files(swept)
    rewrite(swept)
    assert part_files(swept) == before
    summary = json.loads((swept / "summary.json").read_text())
    assert summary["status"] == "incomplete"
    assert summary["points"] < 16
    reason = json.loads((swept / "sweep.json").read_text())["reason"]
    assert "parts/00-000002-" in reason
    assert "repeat its runs with --resume" in reason


def test_a_report_of_a_sweep_that_was_killed_before_its_first_run_says_that_there_is_none(
    swept: Path,
) -> None:
    shutil.rmtree(swept / "parts")
    (swept / "parts").mkdir()
    page = rewrite(swept)
    assert json.loads((swept / "summary.json").read_text())["points"] == 0
    assert "0 runs of 2 variants" in page.read_text()


def test_a_run_that_is_in_two_parts_is_refused(swept: Path) -> None:
    first, second = sorted((swept / "parts").iterdir())[:2]
    rows = pq.read_table(first)
    copied = as_parquet(rows.to_pylist(), rows.schema, shard="00-000901")
    parts.keep(swept / "parts", "00-000901", copied)
    with pytest.raises(LonghaulError, match=f"is in two parts, {first.name} and 00-000901-") as caught:
        resume(swept)
    assert caught.value.exit_code == 2
    assert second.exists()


def test_every_flipped_bit_of_a_part_is_found(swept: Path) -> None:
    path = min((swept / "parts").iterdir())
    content = path.read_bytes()
    chance = random.Random(20)
    for _trial in range(200):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        found = parts.find(swept / "parts")
        assert list(found.damaged) == [path]
        assert len(found.good) == len(part_files(swept)) - 1


def test_a_summary_does_not_depend_on_how_runs_are_cut_into_parts(tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(SCENARIO)
    tables = []
    for size in (1, 3, 16):
        begun = sweep(tmp_path / "pair.yaml", runs=tmp_path / f"{size}")
        for part in (begun.directory / "parts").iterdir():
            part.unlink()
        path = begun.directory / "sweep.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "shard_points": size}))
        again = resume(begun.directory)
        assert len(part_files(begun.directory)) == -(-16 // size)
        tables.append(again.table())
    assert tables[0] == tables[1] == tables[2], "bit by bit"
