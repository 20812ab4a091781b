"""Equal-cost multipath: the paths that ``show`` tells are those of a simulation, and all of them are used."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import longhaul
from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.show.flow_paths import flow_paths

PATHS = 4
FLOWS = 128
DIAMOND = (
    """
version: 1
name: diamond
duration: 2s
routing: {multipath: flow-hash}
nodes:
  a: {kind: host, attach: x}
  b: {kind: host, attach: y}
  x: {kind: router}
  m1..4: {kind: router}
  y: {kind: router}
links:
"""
    + "".join(
        f"  x-m{n}: {{endpoints: [x, m{n}], delay: 1ms}}\n  m{n}-y: {{endpoints: [m{n}, y], delay: 1ms}}\n"
        for n in range(1, PATHS + 1)
    )
    + f"""
traffic:
  bulk: {{kind: tcp, from: a, to: b, flows: {FLOWS}, bytes: 30kB, cc: reno}}
"""
)
FAT_TREE = """
version: 1
name: fat
duration: 1s
routing: {multipath: flow-hash}
topology: {kind: fat-tree, k: 4}
traffic:
  east: {kind: tcp, from: p1-e1-h1, to: [p2-e1-h1, p3-e1-h1, p4-e1-h1], flows: 16, bytes: 30kB, cc: reno}
"""


def resolved(text: str) -> Any:
    return resolve(parse_scenario(text.encode(), name="multipath.yaml"))


def delivered(tmp_path: Path, text: str) -> dict[str, int]:
    """Packets that each direction delivered in a simulation, by link, forward."""
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(text, encoding="utf-8")
    links = longhaul.run_sim(scenario, runs=tmp_path / "runs", report=False).summary["links"]
    return {each["name"]: each["packets"]["delivered"] for each in links if each["way"] == "forward"}


def test_the_flows_that_show_puts_on_each_path_are_those_that_a_simulation_delivers(tmp_path: Path) -> None:
    rows = flow_paths(resolved(DIAMOND))
    assert {row["equal_paths"] for row in rows} == {PATHS}
    assert len(rows) == FLOWS
    on = Counter(row["links"][1] for row in rows)
    # Binomial: 32 flows on each path, with a standard deviation of sqrt(128 1/4 3/4) = 4.9.
    assert all(abs(count - FLOWS / PATHS) < 4 * 4.9 for count in on.values()), on
    found = delivered(tmp_path, DIAMOND)
    # Each connection sends 30 kB in 21 segments of 1448 bytes, a SYN, and its other ACKs and FIN.
    each = {link: found[link] / on[link] for link in on}
    assert max(each.values()) < 1.05 * min(each.values()), each


def test_without_multipath_all_flows_take_the_first_path(tmp_path: Path) -> None:
    text = DIAMOND.replace("routing: {multipath: flow-hash}\n", "")
    assert [(row["equal_paths"], row["links"][1]) for row in flow_paths(resolved(text))] == [(1, "x-m1")]
    found = delivered(tmp_path, text)
    assert found["x-m1"] > 0
    assert found["x-m2"] == found["x-m3"] == found["x-m4"] == 0


def test_a_fat_tree_has_a_path_through_each_core_and_uses_its_bisection(tmp_path: Path) -> None:
    plan = resolved(FAT_TREE).plan
    assert plan["routes"] == []
    index = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    routes = Routes(plan)
    k = 4
    assert routes.equal_paths(index["p1-e1-h1"], index["p2-e1-h1"]) == (k // 2) ** 2
    assert routes.equal_paths(index["p1-e1-h1"], index["p1-e2-h1"]) == k // 2
    assert routes.equal_paths(index["p1-e1-h1"], index["p1-e1-h2"]) == 1
    found = delivered(tmp_path, FAT_TREE)
    cores = [name for name in found if "core" in name and name.startswith("p1-")]
    assert len(cores) == (k // 2) ** 2
    assert all(found[name] > 0 for name in cores), found


def test_paths_are_printed_for_each_flow(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from longhaul.cli.show import show

    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(DIAMOND, encoding="utf-8")
    out = CliRunner().invoke(show, [str(scenario), "--paths", "--json"])
    assert out.exit_code == 0, out.output
    rows = json.loads(out.output)
    assert rows[0]["flow"] == "bulk.0"
    assert rows[0]["nodes"][:2] == ["a", "x"]
    text = CliRunner().invoke(show, [str(scenario), "--paths"]).output
    assert "equal paths" in text
    assert "a > x > m" in text
