"""The JSON Schema that editors check with: it takes what we take, and knows the usual mistakes."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from longhaul.scenario import json_schema
from longhaul.scenario.syntax.yaml_tree import data_of, read_tree

ROOT = Path(__file__).parents[2]
OURS = [
    path
    for folder in ("scenarios", "studies")
    for path in sorted((ROOT / folder).rglob("*.yaml"))
    if b"nodes:" in path.read_bytes() or b"topology:" in path.read_bytes()
]
SCHEMA = Draft202012Validator(json_schema())


def with_floats(data: Any) -> Any:
    """As a reader of YAML gives it to a validator."""
    if isinstance(data, dict):
        return {key: with_floats(each) for key, each in data.items()}
    if isinstance(data, list):
        return [with_floats(each) for each in data]
    return float(data) if isinstance(data, Decimal) else data


def problems(text: str) -> list[str]:
    data = data_of(read_tree("x.yaml", text.encode())[1])
    return [error.message for error in SCHEMA.iter_errors(with_floats(data))]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_no_scenario_of_ours_is_complained_of(path: Path) -> None:
    assert problems(path.read_text("utf-8")) == []


GOOD = """\
version: 1
name: good
params: {delay: 5ms, other: b}
nodes: {a: {kind: host}, b: {kind: host}}
links: {ab: {endpoints: [a, b], delay: $delay, rate: 10Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: $other}}
events: [{at: 1s, link: ab, set: {delay: 9ms}}]
"""


def test_names_alone_lists_and_parameters_are_taken() -> None:
    assert problems(GOOD) == []
    assert problems(GOOD.replace("to: $other", "to: [b]").replace("link: ab,", "link: [ab],")) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("rate: 10Mbit", "rate: 10Mbps"),
        ("rate: 10Mbit", "rate: 10"),
        ("rate: 10Mbit", "bandwidth: 10Mbit"),
        ("delay: $delay", "delay: 5"),
        ("delay: $delay", "delay: $5"),
        ("kind: tcp", "kind: tpc"),
        ("to: $other", "to: []"),
        ("endpoints: [a, b], ", ""),
        ("b: {kind: host}", "b: {}"),
        ("version: 1", "version: 2"),
    ],
)
def test_usual_mistakes_are_found_while_one_writes(right: str, wrong: str) -> None:
    assert right in GOOD
    assert problems(GOOD.replace(right, wrong))


def test_what_adds_to_a_topology_needs_no_more() -> None:
    text = "version: 1\nname: ring\ntopology: {kind: ring, sites: 3}\n"
    assert problems(text + "links: {r1-r2: {loss: 1%}}\nnodes: {r1: {at: [1, 2]}}\n") == []
