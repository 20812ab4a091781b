"""A topology in a scenario: what it makes, what goes over it, and how it varies."""

import re
from pathlib import Path
from typing import Any

import pytest

import longhaul
from longhaul import topologies
from longhaul.scenario import Resolved, ScenarioError, json_schema, parse_scenario, resolve
from longhaul.scenario.model.topology import KINDS
from longhaul.scenario.show.describe import describe
from longhaul.scenario.sweeps.options import Options, load_sweep
from longhaul.scenario.sweeps.variants import base_of

HEAD = "version: 1\nname: t\nduration: 1s\n"


def made(text: str, **settings: str) -> Resolved:
    return resolve(parse_scenario((HEAD + text).encode(), name="t.yaml", settings=settings))


def link(resolved: Resolved, name: str) -> dict[str, Any]:
    (found,) = (each for each in resolved.plan["links"] if each["name"] == name)
    return dict(found)


def names(resolved: Resolved) -> list[str]:
    return [node["name"] for node in resolved.plan["nodes"]]


BY_HAND = """
profiles: {lan: {delay: 50us, rate: 10Gbit}, wan: {delay: 10ms, rate: 1Gbit}}
nodes:
  left: {kind: router}
  left1..2: {kind: host, attach: left, profile: lan}
  right: {kind: router}
  right1..2: {kind: host, attach: right, profile: lan}
links: {bottleneck: {endpoints: [left, right], profile: wan}}
"""


def test_a_dumbbell_in_one_word_is_the_one_that_is_written_out() -> None:
    assert made("topology: dumbbell").plan == made(BY_HAND).plan


def test_a_link_of_the_file_goes_over_that_of_the_topology_key_by_key() -> None:
    changed = made("topology: dumbbell\nlinks: {bottleneck: {rate: 20Mbit, reverse: {loss: 1%}}}")
    bottleneck = link(changed, "bottleneck")
    assert bottleneck["forward"]["rate"]["bits_per_s"] == 20 * 10**6
    assert bottleneck["forward"]["delay"]["delay_ns"] == 10 * 10**6
    assert [bottleneck[way]["loss"]["model"] for way in ("forward", "reverse")] == ["none", "independent"]


def test_the_link_of_one_host_can_be_changed_by_its_name() -> None:
    changed = made("topology: dumbbell\nlinks: {left2-left: {rate: 5Mbit}}")
    assert link(changed, "left2-left")["forward"]["rate"]["bits_per_s"] == 5 * 10**6
    assert link(changed, "left2-left")["forward"]["delay"]["delay_ns"] == 50_000
    assert link(changed, "left1-left")["forward"]["rate"]["bits_per_s"] == 10**10
    plain = made("topology: dumbbell")
    assert [node["ipv4"] for node in changed.plan["nodes"]] == [node["ipv4"] for node in plain.plan["nodes"]]


def test_nodes_of_the_file_change_single_ones_and_ranges_and_add_others() -> None:
    changed = made(
        "topology: {kind: dumbbell, left: 3}\n"
        "nodes:\n"
        "  left2..3: {tcp: {congestion_control: reno}}\n"
        "  right: {at: [48.85, 2.35]}\n"
        "  spy: {kind: host, attach: left, function: sink}\n"
        "links: {more: {endpoints: [left, right], delay: 20ms}}\n"
    )
    settings = {
        node["name"]: node["congestion_control"] for node in describe(changed)["nodes"] if node["ipv4"]
    }
    assert [settings[name] for name in ("left1", "left2", "left3")] == [None, "reno", "reno"]
    assert changed.positions == {"right": (48.85, 2.35)}
    assert names(changed)[-1] == "spy"
    assert changed.functions["spy"] == "sink"
    assert len(changed.plan["links"]) == 3 + 2 + 1 + 2


def test_the_settings_of_access_and_wan_come_from_the_section_or_a_profile() -> None:
    inline = made("topology: {kind: star, access: {delay: 1ms, rate: 2Mbit}, wan: {delay: 7ms, loss: 1%}}")
    named = made(
        "profiles: {slow: {delay: 1ms, rate: 2Mbit}, far: {delay: 7ms, loss: 1%}}\n"
        "topology: {kind: star, access: slow, wan: far}"
    )
    assert inline.plan == named.plan


def test_jumbo_packets_and_one_family_of_addresses_are_options() -> None:
    jumbo = made("topology: {kind: ring, mtu: 9000, addresses: ipv6}")
    assert {each["mtu"] for each in jumbo.plan["links"]} == {9000}
    assert {node["ipv4"] for node in jumbo.plan["nodes"]} == {None}
    assert all(node["ipv6"] for node in jumbo.plan["nodes"])
    assert made("addresses: ipv4\ntopology: ring").plan["nodes"][0]["ipv6"] is None


def test_parameters_reach_into_a_topology() -> None:
    text = "params: {n: 3, far: 20ms}\ntopology: {kind: star, sites: $n, wan: {delay: $far, rate: 1Gbit}}"
    assert len(names(made(text))) == 1 + 3 * 2
    assert len(names(made(text, n="5"))) == 1 + 5 * 2
    assert link(made(text, far="30ms"), "hub-r1")["forward"]["delay"]["delay_ns"] == 30 * 10**6


def test_a_sweep_varies_the_section_and_what_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(
        HEAD + "topology: dumbbell\n"
        "sweep: {axes: {topology.left: [1, 3], links.bottleneck.delay: [5ms, 9ms], nodes.right1.tcp:"
        " [{congestion_control: reno}]}}\n"
    )
    asked = load_sweep(path, settings={}, options=Options())
    base = base_of(asked.source, asked.root, list(asked.sweep.axes), settings={})
    few = base.resolve(["1", "5ms", "{congestion_control: reno}"])
    many = base.resolve(["3", "9ms", "{congestion_control: reno}"])
    assert [len(names(each)) for each in (few, many)] == [5, 7]
    assert [link(each, "bottleneck")["forward"]["delay"]["delay_ns"] for each in (few, many)] == [
        5 * 10**6,
        9 * 10**6,
    ]


def test_routers_are_access_or_core_by_what_hangs_on_them() -> None:
    assert made("topology: star").functions["hub"] == "core"
    assert made("topology: star").functions["r1"] == "access-link"
    assert made("topology: ring").functions["r1"] == "router"
    told = describe(made("topology: dumbbell\nnodes: {left: {function: core}}"))
    functions = {node["name"]: node["function"] for node in told["nodes"]}
    assert functions == {
        "left": "core",
        "left1": "source",
        "left2": "source",
        "right": "access-link",
        "right1": "sink",
        "right2": "sink",
    }


def test_unused_links_of_a_topology_are_one_warning() -> None:
    (warning,) = [each.headline for each in made("topology: {kind: fat-tree, spread: false}").warnings]
    assert warning.startswith("t.yaml:4:1: topology: no path between hosts uses 20 of its 32 links")


def test_a_route_of_the_file_goes_before_that_of_a_fat_tree() -> None:
    text = "topology: fat-tree\nroutes: [{at: p1-e1, to: p2-e1-h1, via: p1-a1}]"
    for via in ("p1-a1", "p1-a2"):
        resolved = made(text.replace("via: p1-a1", f"via: {via}"))
        places = names(resolved)
        (chosen,) = (
            route["link"]
            for route in resolved.plan["routes"]
            if route["node"] == places.index("p1-e1") and route["destination"] == places.index("p2-e1-h1")
        )
        assert resolved.plan["links"][chosen]["name"] == f"p1-e1-{via}"


def test_what_is_wrong_with_what_a_topology_made_is_said_of_its_line() -> None:
    with pytest.raises(ScenarioError, match=r"t\.yaml:4:49: topology\.wan\.queue: a limit in BDPs"):
        made("topology: {kind: star, wan: {delay: 5ms, queue: 1bdp}}")


def test_the_schema_describes_every_kind_and_option() -> None:
    schema = json_schema()
    kinds = {
        each["properties"]["kind"]["const"]: each
        for each in schema["$defs"].values()
        if each.get("properties", {}).get("kind", {}).get("const") in KINDS
    }
    assert set(kinds) == set(KINDS)
    for kind in kinds.values():
        assert kind["description"]
        assert all(each.get("description") for key, each in kind["properties"].items() if key != "kind")
    assert "nodes" not in schema["required"]


MAKERS = {
    kind: getattr(topologies, kind.replace("-", "_"))
    for kind in KINDS
    if kind not in ("sites", "teragrid", "constellation")
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_sketch_from_python_is_the_section_by_its_defaults(kind: str) -> None:
    sketch = MAKERS[kind](name="t", duration="1s")
    assert sketch.check().plan == made(f"topology: {kind}").plan


def test_a_sketch_can_be_written_and_run(tmp_path: Path) -> None:
    sketch = longhaul.topologies.chain(
        routers=2,
        wan={"delay": "5ms", "rate": "10Mbit"},
        duration="1s",
        traffic={"probe": {"kind": "ping", "from": "r1-h1", "to": "r2-h1", "every": "100ms"}},
    )
    result = longhaul.run_sim(sketch.write(tmp_path / "c.yaml"), runs=tmp_path / "runs", report=False)
    # Two accesses of 50 us and 5 ms each way, and 84 bytes take 67 us each way at 10 Mbit/s.
    assert result.probe("probe")["rtt_p50_ns"] == pytest.approx(10.2e6 + 2 * 84 * 8 * 100, rel=0.02)


def test_long_sketches_are_broken_into_lines_that_read_the_same() -> None:
    places = {f"site{number}": [number, number] for number in range(1, 30)}
    sketch = topologies.sites(places, join="star", links={"site1-site2": {"loss": "1%"}}, duration="1s")
    assert max(map(len, sketch.text.splitlines())) <= 110
    assert len(sketch.check().plan["links"]) == 28 + 29


def test_every_block_of_the_reference_is_a_scenario_or_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/topologies.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(yaml|python)\n(.*?)```", page, re.DOTALL)
    assert [kind for kind, _text in blocks] == ["yaml", "yaml", "yaml", "python"]
    monkeypatch.chdir(tmp_path)
    for kind, text in blocks:
        if kind == "yaml":
            assert resolve(parse_scenario(text.encode(), name="block.yaml")).plan["links"]
        else:
            exec(text, {})
    assert (tmp_path / "runs" / "fish-bone" / "latest" / "summary.json").exists()
