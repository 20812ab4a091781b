"""The drawing of a network shows its shape."""

import re
from itertools import pairwise

import pytest

from longhaul import topologies
from longhaul.report.topology import draw
from longhaul.topologies import Sketch


def drawn(sketch: Sketch) -> str:
    resolved = sketch.check()
    drawing = draw(
        resolved.plan, resolved.positions, functions=resolved.functions, spots=resolved.scenario.spots
    )
    assert drawing is not None
    return drawing


def places(drawing: str) -> list[tuple[float, float]]:
    """Of routers, in the order of the scenario."""
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing)]


def test_a_chain_is_a_straight_line_of_equal_steps() -> None:
    found = places(drawn(topologies.chain(routers=5)))
    assert len({y for _x, y in found}) == 1
    steps = [second[0] - first[0] for first, second in pairwise(found)]
    assert steps == pytest.approx([steps[0]] * 4, abs=0.2)


def test_the_layers_of_a_fat_tree_are_one_below_the_other() -> None:
    sketch = topologies.fat_tree(k=4)
    names = [node["name"] for node in sketch.check().plan["nodes"] if node["kind"] == "router"]
    heights: dict[str, set[float]] = {}
    for name, (_x, y) in zip(names, places(drawn(sketch)), strict=True):
        heights.setdefault(name.partition("-")[2][:1] or "core", set()).add(y)
    (core,), (aggregation,), (edge,) = heights["core"], heights["a"], heights["e"]
    assert core < aggregation < edge


def test_a_dumbbell_says_who_sends_and_who_receives() -> None:
    drawing = drawn(topologies.dumbbell(left=3, right=1))
    assert "3 sources: left1 .. left3" in drawing
    assert "1 sink: right1" in drawing


def test_the_core_looks_different() -> None:
    assert drawn(topologies.star(sites=4)).count('class="router core"') == 1
