"""The scenario that has every model indeed has every model that Rust knows."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longhaul import _longhaul
from longhaul.scenario import load_scenario, resolve

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plan() -> dict[str, Any]:
    return dict(resolve(load_scenario(ROOT / "scenarios/every-model.yaml", settings={})).plan)


def directions(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for link in plan["links"]:
        for way in ("forward", "reverse"):
            yield link[way]
            yield from (link[way].get("bundle") or {"routes": []})["routes"]


def tags(value: Any, tag: str) -> set[str]:
    if isinstance(value, dict):
        found = {value[tag]} if isinstance(value.get(tag), str) else set()
        return found.union(*(tags(each, tag) for each in value.values()))
    return set().union(*(tags(each, tag) for each in value)) if isinstance(value, list) else set()


def known(plan: dict[str, Any], *place: str, content: Any) -> set[str]:
    """What Rust would take at a place of the first direction, according to its own refusal."""
    wrong = copy.deepcopy(plan)
    at = wrong["links"][0]["forward"]
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = content
    with pytest.raises(_longhaul.InvalidValueError, match="unknown variant") as refusal:
        _longhaul.check_plan(json.dumps(wrong))
    assert refusal.value.remedy is not None
    return set(re.findall(r'"?([\w-]+)"?(?:, |$)', refusal.value.remedy.removeprefix("there are: ")))


@pytest.mark.parametrize("model", ["loss", "delay", "rate", "reordering"])
def test_every_model_of(plan: dict[str, Any], model: str) -> None:
    wanted = known(plan, model, content={"model": "?"})
    used = {each[model]["model"] for each in directions(plan) if each[model]}
    # No model of order is null in a direction, and "none" in a change alone.
    assert used >= wanted - ({"unlimited"} if model != "reordering" else {"none"})
    assert len(wanted) > 1


def test_every_discipline_of_queues(plan: dict[str, Any]) -> None:
    wanted = known(plan, "queue", content={"discipline": {"kind": "?"}})
    used = {each["queue"].get("discipline", {"kind": "fifo"})["kind"] for each in directions(plan)}
    assert used == wanted
    assert len(wanted) > 5


def test_every_policy_of_routes(plan: dict[str, Any]) -> None:
    wanted = known(plan, "bundle", content={"policy": {"kind": "?"}, "routes": []})
    used = {each["bundle"]["policy"]["kind"] for each in directions(plan) if each.get("bundle")}
    assert used == wanted


def test_every_distribution(plan: dict[str, Any]) -> None:
    gap = {"model": "renewal", "gap": {"dist": "?"}, "unit": "packets", "burst": {"dist": "?"}}
    wanted = known(plan, "loss", content=gap)
    assert tags(plan["links"], "dist") == wanted
    assert len(wanted) > 8
