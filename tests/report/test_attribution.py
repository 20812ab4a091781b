"""Drops add up by cause and link, and every surface shows the same numbers: over random scenarios."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from attribution import check, random_scenario

import longhaul

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_drops_of_a_simulation_add_up_wherever_they_are_shown(seed: int, tmp_path: Path, capsys: Any) -> None:
    text = random_scenario(Random(seed))
    (tmp_path / "drops.yaml").write_text(text)
    result = longhaul.run_sim(tmp_path / "drops.yaml", runs=tmp_path / "runs", seed=seed)
    found = check(result.directory, capsys)
    assert found, text
    SEEN.update(found)


SEEN: set[str] = set()


def test_the_scenarios_have_every_cause_of_a_link() -> None:
    assert {"lost", "overflowed", "dropped", "down"} <= SEEN
