"""What a text says: its problems, and its network as far as it goes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longhaul.page.drawing import MOST_NODES, drawn_plan
from longhaul.page.run_list import row
from longhaul.page.scenario_check import look
from longhaul.results import directory as directories
from longhaul.run.check import report
from longhaul.scenario import resolve
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.edit.edits import Edit, EditError, edit
from longhaul.scenario.edit.templates import template
from longhaul.scenario.syntax.problems import ScenarioError

from .answered import check_answer, read

PAIR = template("pair", kind="pair")
HALF = """\
version: 1
name: half
params: {way: 5ms}
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  par1..2: {kind: host, attach: par}
links:
  wan: {endpoints: [par, nyc], delay: $way, forward: {loss: 0.5}, rate: 10}
traffic: {p: {kind: ping, from: par1, to: [par1..2]}}
"""


def errors(told: Any) -> list[str]:
    return [each["message"] for each in told["problems"] if each["severity"] == "error"]


def test_a_right_text_has_numbers() -> None:
    told = look(PAIR, folder=Path())
    assert told["problems"] == []
    (link,) = told["model"]["links"]
    assert link["rtt_ns"] == 40_000_000
    assert link["forward"]["rate_bits_per_s"] == 100_000_000
    assert link["forward"]["loss"] == 0.001
    assert link["bdp_bytes"] == 500_000  # 100 Mbit/s for 40 ms
    assert link["text"]["delay"] == "$delay"


def test_a_text_that_is_not_right_yet_is_drawn_as_it_stands() -> None:
    told = look(HALF, folder=Path())
    assert len(errors(told)) == 1
    model = told["model"]
    assert model["resolved"] is False
    assert [node["name"] for node in model["nodes"]] == ["par", "par1", "par2"]
    assert [node["range"] for node in model["nodes"]] == [None, "par1..2", "par1..2"]
    assert model["nodes"][0]["at"] == (48.85, 2.35)
    wan, *attached = model["links"]
    assert (wan["a"], wan["b"], wan["line"], wan["forward"]) == ("par", "nyc", 8, None)
    assert wan["ways"] == {"forward": {"loss": "0.5"}}
    assert [link["name"] for link in attached] == ["par1-par", "par2-par"]
    assert model["traffic"][0]["to"] == ["par1", "par2"]


def plan_of(text: str) -> Any:
    return resolve(parse_scenario(text.encode(), name="drawn.yaml")).plan


def drawn(plan: Any) -> Any:
    return drawn_plan(plan, positions={}, spots={}, functions={})


def test_only_a_link_from_a_host_to_a_router_is_an_attachment() -> None:
    nodes, links = drawn(
        plan_of(
            """\
version: 1
name: ends
nodes: {a: {kind: host}, b: {kind: host}, r: {kind: router}, c: {kind: host, attach: r}}
links:
  a-b: {endpoints: [a, b], delay: 5ms}
  b-r: {endpoints: [b, r], delay: 5ms}
"""
        )
    )
    assert {link["name"]: link["attachment"] for link in links} == {"a-b": False, "b-r": True, "c-r": True}
    assert {node["name"]: node["attach"] for node in nodes} == {"a": None, "b": "r", "r": None, "c": "r"}


def test_a_switch_is_drawn_as_a_switch_with_its_hosts_attached() -> None:
    text = "version: 1\nname: s\nnodes: {s: {kind: switch}, a1..2: {kind: host, attach: s}}\n"
    nodes, links = drawn(plan_of(text))
    assert {node["name"]: (node["kind"], node["attach"]) for node in nodes} == {
        "s": ("switch", None),
        "a1": ("host", "s"),
        "a2": ("host", "s"),
    }
    assert all(link["attachment"] for link in links)


def test_a_drawn_plan_says_which_directions_begin_down() -> None:
    plan = plan_of(
        """\
version: 1
name: down
nodes: {a: {kind: host}, b: {kind: host}, c: {kind: host}}
links:
  x: {endpoints: [a, b], delay: 5ms, up: false}
  y: {endpoints: [b, c], delay: 5ms, reverse: {up: false}}
  z: {endpoints: [a, c], delay: 5ms}
"""
    )
    _nodes, links = drawn(plan)
    down = {"up": "false"}
    assert [link["ways"] for link in links] == [{"forward": down, "reverse": down}, {"reverse": down}, {}]


def test_a_drawn_plan_has_no_more_nodes_than_a_map_shows() -> None:
    plan = plan_of("version: 1\nname: pair\nnodes: {a1..2: {kind: host, attach: r}, r: {kind: router}}\n")
    host, link = plan["nodes"][0], plan["links"][0]
    many = {
        "nodes": [{**host, "name": f"h{place}"} for place in range(MOST_NODES + 2)],
        "links": [
            {**link, "name": f"l{place}", "endpoints": [place, place + 1]} for place in range(MOST_NODES)
        ],
    }
    nodes, links = drawn(many)
    assert len(nodes) == MOST_NODES
    assert links[-1]["b"] == nodes[-1]["name"]


def test_what_is_no_yaml_has_a_place_and_no_model() -> None:
    told = look("version: 1\nname: [\n", folder=Path())
    assert told["model"] is None
    assert told["problems"][0]["line"] == 3


@pytest.mark.parametrize("nodes", ["", "nodes: {}\n", "nodes:\n", "nodes: ~\n"])
def test_an_empty_network_is_no_mistake_but_says_what_comes_next(nodes: str) -> None:
    text = f"version: 1\nname: new\nduration: 5s\n{nodes}"
    (told,) = look(text, folder=Path())["problems"]
    assert (told["severity"], told["message"], told["line"]) == ("hint", "nothing is drawn yet", None)
    wrong = look(text.replace("5s", "5"), folder=Path())["problems"]
    assert sorted(each["severity"] for each in wrong) == ["error", "hint"]
    with pytest.raises(ScenarioError, match="nodes"):
        parse_scenario(text.encode(), name="new.yaml")


def test_a_network_that_is_wrong_is_not_taken_for_an_empty_one() -> None:
    for rest in (
        "nodes: [a]\n",
        "nodes: {a: 1}\n",
        "node: {a: {kind: host}}\n",
        "topology: {kind: dumbell}\n",
    ):
        told = look(f"version: 1\nname: new\nduration: 5s\n{rest}", folder=Path())["problems"]
        assert {each["severity"] for each in told} == {"error"}, rest


def test_a_warning_has_its_place() -> None:
    told = look(PAIR + "profiles: {lan: {delay: 1ms}}\n", folder=Path())
    (warning,) = told["problems"]
    assert (warning["severity"], warning["path"]) == ("warning", "profiles.lan")
    assert warning["line"] == PAIR.count("\n") + 1


def test_a_parameter_of_the_run_has_its_value() -> None:
    told = look(PAIR, folder=Path(), settings={"delay": "1ms"})
    assert told["model"]["links"][0]["rtt_ns"] == 2_000_000
    assert errors(look(PAIR, folder=Path(), settings={"delay": "1"})) == ['$delay: "1" has no unit']


PATHS: list[tuple[str, ...]] = [
    ("duration",),
    ("params", "delay"),
    ("nodes", "near"),
    ("nodes", "near", "kind"),
    ("links", "wan"),
    ("links", "wan", "endpoints"),
    ("links", "wan", "loss"),
    ("links", "wan", "queue"),
    ("links", "more"),
    ("traffic", "probe", "to"),
    ("traffic", "bulk"),
    ("expect",),
    ("events", "-"),
]
VALUES: list[Any] = [
    "38ms",
    "1%",
    "far",
    "router",
    "host",
    12,
    None,
    {"kind": "host"},
    {"endpoints": ["near", "far"]},
    {"at": "1s", "link": "wan", "down": "1s"},
    ["near", "far"],
]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["set", "remove", "add", "rename"]),
            st.sampled_from(PATHS),
            st.sampled_from(VALUES),
        ),
        max_size=4,
    )
)
def test_what_check_refuses_the_page_has_said_first(tmp_path: Path, edits: list[Any]) -> None:
    text = PAIR
    for op, path, value in edits:
        try:
            text = edit(text, [Edit(op, path, "other" if op == "rename" else value, references=True)]).text
        except EditError:
            continue
    file = tmp_path / "scenario.yaml"
    file.write_text(text)
    _told, code = report([file], settings={}, as_json=True)
    told = look(text, folder=tmp_path)
    assert bool(errors(told)) == (code != 0)
    check_answer("POST", "/api/check", 200, read(json.dumps(told)))


def test_a_run_that_was_killed_is_shown_as_crashed_at_once(tmp_path: Path) -> None:
    plan = {"seed": 1, "measure": {"every_ns": 10**8}}
    made = directories.create(tmp_path, "x", mode="live", source=b"", plan=plan, argv=[])
    assert row(made)["status"] == "running"
    gone = {**json.loads((made / "run.json").read_text())["processes"]["client"], "start_ticks": 1}
    directories.update_run(made, processes={"client": gone})
    assert row(made)["status"] == "crashed"
