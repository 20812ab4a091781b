"""The TeraGrid study: what it simulates, and how it evaluates; the trials themselves take an hour."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.expand.axes import text_of
from longhaul.scenario.sweeps.options import Options
from longhaul.studies import EvaluatedClaim, StudyFolder

FOLDER = Path(__file__).parents[2] / "studies" / "teragrid"


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    monkeypatch.syspath_prepend(str(FOLDER))


def test_the_study_has_sixteen_hundred_trials_and_the_full_one_thirty_thousand() -> None:
    import trials

    few, full = (trials.plans(trials.READINGS["minutes"], full=full) for full in (False, True))
    # One sweep after the other: 83, 9 x 20, 6 x 20, 34 x 20; beside five flows 13 x 8, 4 x 3, twice 26 x 8.
    assert sum(plan.trials for plan in few) == 83 + 20 * (9 + 6 + 34) + 8 * (13 + 52) + 12
    assert 3_300 <= sum(plan.trials for plan in full) < 3_500
    assert 30_000 <= sum(plan.most_trials for plan in full) < 30_500
    assert [plan.name for plan in full if plan.until is None] == ["validation"]
    assert not any(plan.until for plan in few)
    assert all(plan.seeds >= (8 if plan.cross else 20) for plan in few if plan.name != "apart-minutes")


@pytest.mark.parametrize("full", [False, True])
def test_every_sweep_of_the_study_is_ready_to_run_in_the_order_of_its_keys(
    tmp_path: Path, *, full: bool
) -> None:
    import trials

    from longhaul.sweeps.preparation import prepare

    for plan in trials.plans(trials.READINGS["minutes"], full=full):
        path = tmp_path / f"{plan.name}.yaml"
        path.write_text(plan.text, encoding="utf-8")
        axes = {name: ", ".join(map(text_of, values)) for name, values in plan.axes.items()}
        prepared = prepare(
            path, settings=plan.settings, options=Options(axes=axes, repeat=plan.seeds, until=plan.until)
        )
        assert prepared.points == plan.trials
        assert (prepared.sweep.until is not None) == full or plan.name == "validation"
        keys = list(plan.keys())
        for number, values in prepared.design:
            reading, round_trip_ms, name = keys[number]
            assert values == (
                text_of(plan.loss[reading]),
                f"{round_trip_ms / 2 - 6:g}ms",
                text_of(dict(plan.variants)[name]),
            )


def test_the_cost_of_a_sweep_is_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import teragrid
    import trials

    monkeypatch.setattr(teragrid, "DIRECTORY", tmp_path)
    plan = trials.plans(trials.READINGS["minutes"], full=True, seconds=2)[0]
    assert 0 < teragrid._cost_s(plan) < 83


def test_the_round_trip_is_what_the_key_says() -> None:
    import trials

    plan = trials.plans(trials.READINGS["minutes"], full=False)[0]
    found = resolve(parse_scenario(plan.text.encode(), name="teragrid.yaml"))
    from longhaul.scenario.lower.paths import Routes

    routes = Routes(found.plan)
    nodes = [node["name"] for node in found.plan["nodes"]]
    way = routes.way(nodes.index("sdsc1"), nodes.index("purdue1"))
    assert way is not None
    assert way.round_trip_ns == 65_000_000


def results(takes: dict[str, float]) -> Any:
    """Trials in which each variant takes such a share of the 500 Mbit/s that five flows have beside SACK."""
    import results
    import trials

    cells = {}
    for sweep, reading, (name, _flow) in product(
        ("alone", "long", "short", "long-apart"),
        ("minutes", "seconds"),
        (*trials.ALGORITHMS, *trials.STOCHASTIC_N, *trials.PARALLEL),
    ):
        share = takes.get(name, 0.0)
        noise = [1e6 * (seed % 3 - 1) for seed in range(20)]
        cells[sweep, reading, 65, name] = results.Cell(
            main=tuple(300e6 + 600e6 * share + each for each in noise),
            cross=tuple(500e6 * (1 - share) + each for each in noise),
            jain=(0.5,) * 20,
            digests=tuple(map(str, range(20))),
        )
    main = tuple(451e6 + 100e6 * (seed - 41) / 41 for seed in range(83))
    for sweep, reading in (("validation", "fitted"), ("readings", "minutes"), ("readings", "seconds")):
        rates = main if reading != "seconds" else (3e6,) * 83
        cells[sweep, reading, 65, "SACK"] = results.Cell(
            main=rates, cross=(0.0,) * 83, jain=(1.0,) * 83, digests=tuple(map(str, range(83)))
        )
    return results.Results(cells, trials=0, hops=0, sweeps={})


def test_claims_follow_the_trials() -> None:
    import verdicts

    takes = {"Scalable": 0.9, "BIC": 0.7, "CUBIC": 0.6, "H-TCP": 0.4, "HighSpeed": 0.04}
    claims = StudyFolder(FOLDER).claims
    found = {
        name: EvaluatedClaim(claims.claim(name, part="trials"), tuple(cases)).verdict
        for name, cases in verdicts.verdicts(results(takes))
    }
    assert set(found) == {claim.id for claim in claims.claims}
    assert found["most-with-long-queues"] == "reproduced"
    assert found["most-with-short-queues"] == "not reproduced"
    assert found["least-fair"] == "reproduced"
    assert found["bic-takes"] == "reproduced"
    assert found["highspeed-takes"] == "not reproduced"
    assert found["reno-spares"] == "reproduced"
    assert found["compound-compromise"] == "not reproduced"
    assert found["sack-mean"] == "reproduced"
    # Uniform from 351 to 551: a standard deviation of 200 / sqrt(12) = 58.
    assert found["sack-deviation"] == "not reproduced"
    assert found["published-loss"] == "depends on the reading of the loss and the queue"
    assert found["stochastic-as-parallel"] == "reproduced"
