"""Whatever happens to a file of a run, nobody meets an internal error, and no damaged run is faithful."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import longhaul
from longhaul.errors import LonghaulError
from longhaul.results import manifest
from longhaul.results.run_files import kept_json, kept_table, kept_text
from longhaul.results.summary import write_results

pytestmark = pytest.mark.usefixtures("no_sync")

SHORT = """
version: 1
name: short
duration: 2s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 2ms, rate: 1Mbit}}
traffic:
  load: {kind: udp, from: a, to: b, rate: 200kbit}
  bulk: {kind: tcp, from: a, to: b}
  probe: {kind: ping, from: a, to: b, every: 100ms}
measure: {packets: {links: [wan]}, monitor: {links: [wan]}}
expect: [{metric: flows.bulk.goodput, min: 1kbit}]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole")
    (place / "short.yaml").write_text(SHORT)
    finished = longhaul.run_sim(place / "short.yaml", runs=place / "runs")
    assert finished.summary["outcome"]["exit_code"] == 0
    return finished.directory


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "run")


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def cut(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def remove(path: Path, _chance: random.Random) -> None:
    path.unlink()


def append(path: Path, _chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + b"{\n")


def garble(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


DAMAGES = (flip, flip, flip, cut, remove, append, garble)


def files(run: Path) -> Iterator[str]:
    for path in sorted(run.rglob("*")):
        if path.is_file() and path.stat().st_size:
            yield path.relative_to(run).as_posix()


def results(run: Path) -> tuple[dict[str, Any] | None, LonghaulError | None]:
    """The summary that is written again, or why it cannot be."""
    try:
        return write_results(run), None
    except LonghaulError as error:
        return None, error


def test_a_finished_run_has_a_manifest_of_every_file(run: Path) -> None:
    known = json.loads((run / "manifest.json").read_text())["files"]
    assert set(files(run)) - set(known) == {"manifest.json", "run.json", "report.html"}
    assert manifest.find_damage(run) == []


def test_results_that_are_written_again_are_the_same(run: Path) -> None:
    before = {name: (run / name).read_bytes() for name in files(run)}
    write_results(run)
    assert {name: (run / name).read_bytes() for name in files(run)} == before


def test_each_kind_of_damage_to_each_file_is_found(run: Path, whole: Path) -> None:
    chance = random.Random(9)
    tried = 0
    for name in files(whole):
        if name in ("manifest.json", "run.json", "report.html"):
            continue
        for damage in DAMAGES:
            shutil.copy(whole / name, run / name)
            damage(run / name, chance)
            if (run / name).exists() and (run / name).read_bytes() == (whole / name).read_bytes():
                continue
            tried += 1
            with pytest.raises(LonghaulError) as caught:
                manifest.check(run, name)
            assert str(run / name) in caught.value.message
            assert caught.value.exit_code == 2
            if name.startswith("logs/") and damage is append:
                continue
            assert manifest.is_derived(name) or [each.name for each in manifest.find_damage(run)] == [name]
        shutil.copy(whole / name, run / name)
    assert tried > 100


def test_no_damaged_run_is_faithful_and_none_ends_in_an_internal_error(run: Path, whole: Path) -> None:
    chance = random.Random(10)
    seen = {"refused": 0, "invalid": 0, "again": 0}
    for name in files(whole):
        if name == "report.html":
            continue
        for damage in (chance.choice(DAMAGES), remove):
            shutil.rmtree(run)
            shutil.copytree(whole, run)
            damage(run / name, chance)
            if (run / name).exists() and (run / name).read_bytes() == (whole / name).read_bytes():
                continue
            summary, error = results(run)
            if summary is None:
                assert error is not None
                assert error.exit_code == 2
                assert error.remedy
                assert name in error.message
                seen["refused"] += 1
            elif manifest.is_derived(name):
                assert (run / name).read_bytes() == (whole / name).read_bytes()
                seen["again"] += 1
            elif name in ("run.json", "manifest.json"):
                assert damage in (flip, remove, append)
            else:
                assert summary["fidelity"]["verdict"] == "invalid", (name, damage)
                assert any(name in each["what"] for each in summary["fidelity"]["reasons"])
                assert summary["outcome"]["exit_code"] == 4
                seen["invalid"] += 1
    assert min(seen.values()) > 3, seen


@pytest.mark.parametrize("damage", [flip, cut, garble])
def test_what_reads_a_damaged_file_names_it_and_what_helps(
    run: Path, damage: Callable[[Path, random.Random], None]
) -> None:
    chance = random.Random(11)
    for name in ("links.parquet", "summary.json", "plan.json", "raw/traffic.json", "scenario.yaml"):
        damage(run / name, chance)
    for read, name, remedy in (
        (lambda: kept_table(run, "links"), "links.parquet", "longhaul report"),
        (lambda: kept_json(run, "summary.json"), "summary.json", "longhaul report"),
        (lambda: kept_json(run, "plan.json"), "plan.json", "restore it from a copy"),
        (lambda: kept_json(run, "raw/traffic.json"), "traffic.json", "restore it from a copy"),
        (lambda: kept_text(run, "scenario.yaml"), "scenario.yaml", "restore it from a copy"),
    ):
        with pytest.raises(LonghaulError, match=f"{name} is damaged.*{remedy}"):
            read()


def test_damage_is_not_approved_by_writing_results_again(run: Path) -> None:
    flip(run / "raw" / "samples.csv", random.Random(12))
    for _again in range(2):
        assert write_results(run)["fidelity"]["verdict"] == "invalid"


def test_a_run_without_a_manifest_is_read_as_it_is(run: Path) -> None:
    (run / "manifest.json").unlink()
    assert write_results(run)["outcome"]["exit_code"] == 0
    assert manifest.find_damage(run) == []
