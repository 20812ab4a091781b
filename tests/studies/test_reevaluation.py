"""Committed tables, evaluated again, give the committed verdicts: rules and results have not come apart."""

import ast
import shutil
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from longhaul.studies import Study, StudyFolder, read_table
from longhaul.studies.results_files import read_results

from .conftest import STUDIES

Rows = list[dict[str, Any]]
Measured = Callable[[str, dict[str, Rows]], Any]
"""What a measurement of that key was, from the tables of the study."""


def value(text: str) -> Any:
    """A cell: a number, a truth value, nothing or text."""
    try:
        return ast.literal_eval(text) if text else None
    except (SyntaxError, ValueError):
        return text


class Replayed(Study):
    """A study whose measurements are those of its committed tables."""

    replay: Measured

    def measured(self, key: str, measure: Callable[[], Any]) -> Any:
        tables = {
            path.stem: [{name: value(text) for name, text in row.items()} for row in read_table(path)]
            for path in (STUDIES / self.definition.folder.name / "results").glob("*.csv")
        }
        return self.replay(key, tables)


def of(rows: Rows, **wanted: Any) -> Rows:
    """The rows with these values."""
    return [row for row in rows if all(row[name] == each for name, each in wanted.items())]


def without(rows: Iterable[dict[str, Any]], *names: str) -> Rows:
    return [{name: each for name, each in row.items() if name not in names} for row in rows]


def messages(key: str, tables: dict[str, Rows]) -> Any:
    return of(tables["messages"], round=int(key.rpartition("/")[2]))


def packets(key: str, tables: dict[str, Rows]) -> Any:
    held = of(tables["packets-held"], round=int(key.rpartition("/")[2]))
    seen: dict[str, list[list[float]]] = {}
    for row in tables["packets-seen"]:
        seen.setdefault(row["clock"], []).append([row["came_us"], row["left_us"]])
    return {"held": without(held, "round"), "seen": seen}


def table(_key: str, tables: dict[str, Rows]) -> Any:
    return [[row["megabytes_per_s"], row["drops"]] for row in tables["pfldnet"]]


def fits(_key: str, tables: dict[str, Rows]) -> Any:
    quantiles = {row["family"]: [row[f"a2_p{n}"] for n in (5, 50, 95)] for row in tables["families"]}
    return {"rows": tables["fits"], "quantiles": quantiles}


def transfers(key: str, tables: dict[str, Rows]) -> Any:
    name = key.removeprefix("transfers/")
    if name == "whole":
        return tables["transfers-100GB"]
    recovery, window = name.split(", ")
    return of(tables["transfers-simulated"], recovery=recovery, window=window)


def kernels(key: str, tables: dict[str, Rows]) -> Any:
    how = f"computing {key.removeprefix('kernels/')} times as long"
    return of(tables["kernels-simulated"], how=how)


def kernels_virtual(key: str, tables: dict[str, Rows]) -> Any:
    if key.endswith("/simulated"):
        return of(tables["kernels-virtual"], how="simulated")
    _part, way, rtt_ms = key.split("/")
    rows = of(tables["kernels-virtual"], how="virtual", way=way, rtt_ms=int(rtt_ms))
    return {row["kernel"]: row["s"] for row in rows}


def class_b(key: str, tables: dict[str, Rows]) -> Any:
    if key.startswith("simulated/"):
        _inputs, program = key.rsplit(", ", 1)
        rows = of(tables["applications-class-b"], how="the same, simulated", program=program)
        times = {hosts: of(rows, hosts=hosts) for hosts in (4, 8)}
        alone, both = ({str(row["delay_us"]): row["s"] for row in rows} for rows in times.values())
        return {"alone": alone, "both": both}
    _part, problem, hosts, delay_us = key.split("/")
    rows = of(tables["applications-class-b"], how=f"virtual clock, {problem}")
    rows = of(rows, hosts=int(hosts), delay_us=int(delay_us))
    return {row["program"]: {"wall_s": row["s"]} for row in rows}


def transfers_live(key: str, tables: dict[str, Rows]) -> Any:
    curve, difference, number = key.removeprefix("transfers-live/").rsplit("/", 2)
    (row,) = of(tables["transfers-live"], curve=curve, difference_us=int(difference), round=int(number))
    return row


def kernels_live(key: str, tables: dict[str, Rows]) -> Any:
    _part, way, number = key.split("/")
    return of(tables["kernels-live"], way=way, round=int(number))


PARTS: dict[tuple[str, str], Measured] = {
    ("nemc", "messages"): messages,
    ("nemc", "packets"): packets,
    ("nemc", "class-b-virtual"): class_b,
    ("pacing", "table"): table,
    ("fitting", "fits"): fits,
    ("parallel_routes", "transfers"): transfers,
    ("parallel_routes", "kernels"): kernels,
    ("parallel_routes", "kernels-virtual"): kernels_virtual,
    ("parallel_routes", "transfers-live"): transfers_live,
    ("parallel_routes", "kernels-live"): kernels_live,
}
"""Parts whose tables have all that their claims are evaluated by, and how their measurements follow."""


@pytest.mark.parametrize(("folder", "part"), PARTS, ids=str)
def test_verdicts_follow_from_the_tables(
    folder: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "studies" / folder
    shutil.copytree(STUDIES / folder, copy, ignore=shutil.ignore_patterns("results"))
    monkeypatch.syspath_prepend(str(STUDIES / folder))
    program = import_module(folder)
    study = Replayed(copy, whole=False)
    study.replay = PARTS[folder, part]
    with study.part(part):
        program.PARTS[part].run(study, _Given(program.PARTS[part].rounds))
    assert study.failed == 0
    committed = read_results(StudyFolder(STUDIES / folder).results)[part]["claims"]
    again = read_results(study.results)[part]["claims"]
    assert _outcomes(again) == _outcomes(committed)


class _Given:
    """The command line, as far as parts read it."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds


def _outcomes(claims: Rows) -> dict[str, list[tuple[str, str]]]:
    """What each condition is, by claim; tables have less digits than what was evaluated."""
    return {each["id"]: [(case["condition"], case["outcome"]) for case in each["cases"]] for each in claims}


@pytest.mark.parametrize("name", ["algorithms", "three_clocks"])
def test_comparisons_follow_from_the_tables_of_the_other_parts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "studies" / name
    shutil.copytree(STUDIES / name, copy)
    for path in (STUDIES, STUDIES / name):
        monkeypatch.syspath_prepend(str(path))
    program = import_module(name)
    # Published where the copy is.
    study = Study(copy, parts=["comparison"])
    with study.part("comparison"):
        program.PARTS["comparison"].run(study, _Given(1))
    assert study.failed == 0
    committed = read_results(STUDIES / name / "results")["comparison"]["claims"]
    assert read_results(copy / "results")["comparison"]["claims"] == committed
