"""Drops of live runs of random scenarios, changed by hand at random, add up wherever they are shown."""

import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attribution import check, random_scenario

import longhaul

pytestmark = pytest.mark.waiting

CHANGES: tuple[dict[str, Any], ...] = (
    {"loss": "3%"},
    {"rate": "1Mbit"},
    {"delay": "25ms"},
    {"queue": {"limit": "3kB"}},
    {"up": False},
    {"up": True},
)


@pytest.mark.parametrize("seed", [1, 2])
def test_drops_of_a_live_run_that_is_changed_by_hand_add_up(seed: int, tmp_path: Path, capsys: Any) -> None:
    random = Random(seed)
    text = random_scenario(random, duration="3s", algorithms=("reno", "cubic"))
    (tmp_path / "drops.yaml").write_text(text)
    name = f"drops-{time.time_ns()}"
    with longhaul.up(tmp_path / "drops.yaml", name=name, runs=tmp_path / "runs") as network:
        for change in random.sample(CHANGES, 4):
            time.sleep(random.uniform(0.1, 0.4))
            network.set(random.choice(("wan", "far")), **change)
        time.sleep(0.3)
    assert network.result is not None
    found = check(network.result.directory, capsys)
    assert found, text
    assert len(network.result.interventions) >= 3
