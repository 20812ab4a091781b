"""Filters and orders of lists of runs. web/tests/runTable.test.ts has the same cases."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longhaul.errors import LonghaulError
from longhaul.results import run_queries
from longhaul.results.annotations import Annotations
from longhaul.results.experiments import ListedSweep
from longhaul.results.run_queries import Row

SHARED = json.loads((Path(__file__).parent / "run_filters.json").read_text())


def row(label: str, parameters: dict[str, str], **more: Any) -> Row:
    known: dict[str, Any] = {
        "name": "pair",
        "mode": "sim",
        "status": "duration",
        "annotations": Annotations(),
        "metrics": {"goodput": 1e7, "rtt_p50": 2e7, "jain": None},
        "started_unix_s": 1.0,
        "state": "passed",
        "verdict": "faithful",
        "verdict_text": "simulated",
        "duration_s": 1.0,
    }
    return Row(label=label, parameters=parameters, **known | more)


CUBIC = row("cubic", {"cc": "cubic", "delay": "10 ms", "seed": "1"})
RENO = row(
    "reno", {"cc": "reno", "delay": "10 ms", "seed": "1"}, metrics={"goodput": 5e6}, started_unix_s=2.0
)
BOTH = row(
    "both",
    {"cc": "cubic+reno", "delay": "20 ms", "seed": "10"},
    mode="live",
    state="failed",
    verdict="degraded",
    verdict_text="degraded, with 1 intervention",
    annotations=Annotations("Mine", ("paper",), "The slow one"),
    duration_s=3.0,
)
SWEEP = Row.of_sweep(
    ListedSweep(
        directory=Path("runs/pair/sweep"),
        name="sweep",
        status="done",
        started_unix_s=1.0,
        axes=[{"name": "cc", "column": "axis_cc", "values": ["cubic", "reno"]}],
        variants=2,
        repeats=1,
        annotations=Annotations(tags=("paper",)),
    )
)
ALL = [CUBIC, RENO, BOTH, SWEEP]


@pytest.mark.parametrize(("text", "wanted"), SHARED["cases"])
def test_a_filter_leaves_rows_for_which_all_terms_hold(text: str, wanted: list[str]) -> None:
    terms = run_queries.terms(text)
    assert [each.label for each in ALL if run_queries.matches(each, terms)] == wanted


@pytest.mark.parametrize(("text", "wanted"), SHARED["quantities"])
def test_quantities_have_the_units_of_metrics(text: str, wanted: float | None) -> None:
    assert run_queries.quantity(text) == (wanted if wanted is None else pytest.approx(wanted))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ccc=reno", 'no run has "ccc"; use one of: cc, delay, seed, goodput'),
        ("goodput>fast", '"fast" behind "goodput>" is not a quantity; write for example goodput>10Mbit'),
    ],
)
def test_a_filter_that_nothing_can_match_is_an_error(text: str, said: str) -> None:
    with pytest.raises(LonghaulError) as refused:
        run_queries.check(run_queries.terms(text), ALL)
    assert said in refused.value.headline


def test_metrics_that_no_run_has_are_valid_keys() -> None:
    run_queries.check(run_queries.terms("jain>0.9 wall_time<1s lasted>1s tag=x"), ALL)


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("goodput", ["reno", "cubic", "both", "sweep"]),
        ("-goodput", ["cubic", "both", "reno", "sweep"]),
        ("delay", ["cubic", "reno", "both", "sweep"]),
        ("-seed", ["both", "cubic", "reno", "sweep"]),
        ("cc", ["cubic", "both", "sweep", "reno"]),
        ("-lasted", ["both", "cubic", "reno", "sweep"]),
        ("-started", ["reno", "cubic", "both", "sweep"]),
        ("outcome", ["both", "cubic", "reno", "sweep"]),
    ],
)
def test_rows_are_sorted_by_a_column_and_those_without_it_come_last(by: str, wanted: list[str]) -> None:
    assert [ALL[place].label for place in run_queries.sort(ALL, by)] == wanted


def test_numbers_in_text_are_sorted_as_numbers() -> None:
    rows = [replace(CUBIC, label=label) for label in ("run 10", "run 9", "run")]
    assert [rows[place].label for place in run_queries.sort(rows, "run")] == ["run", "run 9", "run 10"]


def test_a_column_that_no_run_has_is_an_error() -> None:
    with pytest.raises(LonghaulError) as refused:
        run_queries.sort(ALL, "goodputs")
    assert 'no column "goodputs"; sort by one of: cc, delay, seed, goodput' in refused.value.headline


def test_columns_are_the_parameters_that_differ_algorithms_and_seeds_first() -> None:
    assert run_queries.parameter_columns([CUBIC, RENO, BOTH]) == ["cc", "seed", "delay"]
    assert run_queries.parameter_columns([CUBIC, RENO]) == ["cc"]
    assert run_queries.parameter_columns([CUBIC]) == []
    assert [each.name for each in run_queries.metric_columns(ALL)] == ["goodput", "rtt_p50"]
