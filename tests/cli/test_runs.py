"""`longhaul runs` from the command line: lists, filters, annotations, the trash and archives."""

import json
import tarfile
from pathlib import Path

import pytest

import longhaul as library
from longhaul.results import annotations

from .conftest import Command

TEXT = """\
version: 1
name: pair
duration: 1s
params: {cc: cubic, far: 10ms}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: $far, rate: 10Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}}
"""


@pytest.fixture(autouse=True)
def made(work: Path) -> dict[str, str]:
    """Runs by their algorithm, and a sweep, as the names of their directories."""
    path = work / "pair.yaml"
    path.write_text(TEXT)
    found = {
        cc: library.run_sim(path, params={"cc": cc}, runs=work / "runs", report=False).directory.name
        for cc in ("cubic", "reno")
    }
    swept = library.sweep(path, axes={"far": ["5ms", "10ms"]}, runs=work / "runs", report=False)
    return found | {"sweep": swept.directory.name}


def names(text: str) -> list[str]:
    """The directories in a printed list."""
    return [word for line in text.splitlines() for word in line.split() if word[:2] == "20" and "Z-" in word]


def test_runs_are_listed_with_parameters_and_metrics_in_80_columns(
    longhaul: Command, made: dict[str, str]
) -> None:
    found = longhaul("runs")
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    assert lines[0].split()[:4] == ["run", "outcome", "cc", "goodput"]
    assert max(map(len, lines[:3])) <= 80
    assert set(names(found.stdout)) == set(made.values())
    assert any(line.split()[:3] == [made["reno"], "passed", "reno"] for line in lines)
    assert lines[3].startswith("no room for ")
    assert "lasted" in lines[3]


def test_a_filter_and_an_order_are_those_of_the_page(longhaul: Command, made: dict[str, str]) -> None:
    assert names(longhaul("runs", "cc=reno", "goodput>5Mbit").stdout) == [made["reno"]]
    assert names(longhaul("runs", "mode=sweep").stdout) == [made["sweep"]]
    assert names(longhaul("runs", "mode=sim", "--sort", "cc").stdout) == [made["cubic"], made["reno"]]
    assert names(longhaul("runs", "mode=sim", "--sort", "-cc").stdout) == [made["reno"], made["cubic"]]
    assert names(longhaul("runs", "--columns", "jain", "--", "-cubic").stdout) == []
    nothing = longhaul("runs", "goodput>5Gbit")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert 'no run in runs matches "goodput>5Gbit"' in nothing.stderr
    wrong = longhaul("runs", "ccc=reno")
    assert (wrong.returncode, 'no run has "ccc"; use one of: cc' in wrong.stderr) == (2, True)


def test_columns_are_chosen(longhaul: Command) -> None:
    heads = longhaul("runs", "mode=sim", "--columns", "goodput,seed,cc").stdout.splitlines()[0]
    assert heads.split() == ["run", "outcome", "goodput", "seed", "cc"]
    wrong = longhaul("runs", "--columns", "speed")
    assert (wrong.returncode, 'no column "speed"; choose from: cc, seed, goodput' in wrong.stderr) == (
        2,
        True,
    )


def test_json_has_everything_in_the_units_of_metrics(longhaul: Command, made: dict[str, str]) -> None:
    found = json.loads(longhaul("runs", "--json").stdout)
    (reno,) = [each for each in found["runs"] if each["parameters"]["cc"] == "reno"]
    assert reno["directory"] == f"runs/pair/{made['reno']}"
    assert 5e6 < reno["metrics"]["goodput"] < 1e7
    assert (reno["state"], reno["tags"], reno["label"]) == ("passed", [], "pair, cc=reno")
    (sweep,) = found["sweeps"]
    assert [(each["name"], each["values"]) for each in sweep["axes"]] == [("far", ["5ms", "10ms"])]


def test_runs_and_sweeps_are_tagged_renamed_and_noted(
    longhaul: Command, made: dict[str, str], work: Path
) -> None:
    assert longhaul("runs", "tag", "paper,first", "runs/pair/latest-sweep", made["reno"]).stdout == (
        "paper, first: added to 1 run and 1 sweep\n"
    )
    assert set(names(longhaul("runs", "tag=paper").stdout)) == {made["reno"], made["sweep"]}
    assert longhaul("runs", "tag", "first", "--where", "tag=first", "--remove").returncode == 0
    longhaul("runs", "rename", " the  baseline", f"pair~{made['reno']}")
    longhaul("runs", "note", "slow start", made["reno"])
    longhaul("runs", "note", "queue too short", made["reno"], "--append")
    assert annotations.read(work / "runs/pair" / made["reno"]) == annotations.Annotations(
        "the baseline", ("paper",), "slow start\nqueue too short"
    )
    assert "the baseline" in longhaul("runs").stdout
    several = longhaul("runs", "rename", "both", "runs/pair")
    assert (several.returncode, "has 3 runs; name one of them" in several.stderr) == (2, True)
    blank = longhaul("runs", "tag", "two words", made["reno"])
    assert (blank.returncode, "has a blank" in blank.stderr) == (2, True)


def test_deleted_runs_and_sweeps_are_restored_by_the_printed_command(
    longhaul: Command, made: dict[str, str]
) -> None:
    deleted = longhaul("runs", "delete", made["sweep"], "--where", "cc=reno")
    assert deleted.stdout.splitlines()[0] == "moved 1 run and 1 sweep to the trash"
    assert names(longhaul("runs").stdout) == [made["cubic"]]
    assert len(longhaul("runs", "trash").stdout.splitlines()) == 2
    undo = deleted.stdout.splitlines()[1].removeprefix("to undo: longhaul ").split()
    assert longhaul(*undo).returncode == 0
    assert set(names(longhaul("runs").stdout)) == set(made.values())
    assert "the trash of runs is empty" in longhaul("runs", "trash").stderr


def test_an_emptied_trash_is_gone(longhaul: Command, made: dict[str, str], work: Path) -> None:
    longhaul("runs", "delete", made["cubic"])
    assert longhaul("runs", "trash", "--empty").stdout == "removed 1 run\n"
    assert not (work / "runs" / ".trash").exists()
    again = longhaul("runs", "restore", made["cubic"])
    assert (again.returncode, "no run in the trash of runs has the name" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("delete",), "no run is named; name runs"),
        (("delete", "nope"), 'there is no run "nope"'),
        (("tag", "x", "--where", "cc=bbr"), 'no run in runs matches "cc=bbr"'),
        (("list", "--runs", "elsewhere"), "there is no directory elsewhere; run a scenario first"),
        (
            ("archive", "--where", "mode=sweep", "--output", "x.tar.gz"),
            "is not a run: archives have runs only",
        ),
    ],
)
def test_wrong_input_is_one_line_with_a_remedy(longhaul: Command, words: tuple[str, ...], said: str) -> None:
    found = longhaul("runs", *words)
    assert (found.returncode, len(found.stderr.splitlines())) == (2, 1)
    assert said in found.stderr


def test_runs_are_archived(longhaul: Command, made: dict[str, str], work: Path) -> None:
    found = longhaul("runs", "archive", "--where", "mode=sim", "--output", "both.tar.gz")
    assert found.returncode == 0, found.stderr
    assert "2 runs; others can repeat" in found.stdout
    with tarfile.open(work / "both.tar.gz") as archive:
        assert any(made["reno"] in name for name in archive.getnames())
