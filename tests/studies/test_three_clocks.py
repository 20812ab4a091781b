"""The study of the three clocks: its scenarios are right, and differences between clocks have reasons."""

from pathlib import Path

import pytest

from longhaul.scenario import parse_scenario, resolve

FOLDER = Path(__file__).parents[2] / "studies" / "three_clocks"


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (FOLDER.parent, FOLDER):
        monkeypatch.syspath_prepend(str(folder))


def test_every_scenario_is_right() -> None:
    from scenarios import CASES, scenario

    for name, case in CASES.items():
        plan = resolve(parse_scenario(scenario(case, seed=1).encode(), name="case")).plan
        assert len(plan["nodes"]) == 6, name


def test_clocks_differ_beyond_five_per_cent_of_the_larger_value() -> None:
    from comparison import is_different

    assert not is_different({"virtual": 95.0, "real": 100.0}, within=0.05)
    assert is_different({"virtual": 94.9, "real": 100.0}, within=0.05)
    assert not is_different({"virtual": 0.0, "real": 0.0}, within=0.05)
    assert not is_different({"virtual": 1.0}, within=0.05)


def test_every_difference_that_was_found_has_a_reason() -> None:
    from longhaul.studies import read_table

    rows = read_table(FOLDER / "results" / "comparison.csv")
    assert [f"{row['case']}: {row['measure']}" for row in rows if not row["reason"]] == []
