"""Every key that a document names in YAML is one that the language takes, with such a value."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from longhaul import _longhaul
from longhaul.export import machines
from longhaul.machines.kubernetes import description_of
from longhaul.scenario import json_schema, parse_scenario, resolve
from longhaul.scenario.model import Document
from longhaul.scenario.model.base import Findings, Strict
from longhaul.scenario.model.traffic import CongestionControl
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, plain, read_tree
from longhaul.studies import claims
from longhaul.studies import paper as paper_file
from longhaul.sweeps.place import KINDS
from longhaul.transfers.plan.request_schema import RequestDocument

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    # Decisions are of their time; requests to the page's server are JSON.
    if "decisions" not in path.parts and path.name != "page-api.md"
)
FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
KEY = re.compile(r"[A-Za-z0-9_][\w.-]*$")
PLACEHOLDER = re.compile(r"\.\.\.|[A-Za-z](_\w)?")
"""What stands for a value in prose and in formulas."""

CLUSTER_KEYS = {"kind", "jobs", "cores", "memory", "walltime", "queue", "dashboard", "shared_temp_directory"}
"""Of the file that says where a sweep runs; its rest is dask-jobqueue's (tests/run/test_sweeps_dask.py)."""
OTHERS = {
    "scrape_configs": "Prometheus's own",
    "hosts: k/2": "a default that depends on another key",
    "algorithm: steady": "the algorithm that the page adds",
    "services:": "of docker compose",
}
"""Snippets of other languages."""


@cache
def models() -> list[type[BaseModel]]:
    """Every mapping of the language, of requests, of machines, and of claims."""
    json_schema()
    assert RequestDocument
    assert machines
    assert claims
    assert paper_file
    found: list[type[BaseModel]] = []

    def take(kind: type[BaseModel]) -> None:
        for each in kind.__subclasses__():
            found.append(each)
            take(each)

    take(Strict)
    generic = [each for each in found if each.__pydantic_generic_metadata__["parameters"]]
    return [each for each in dict.fromkeys(found) if each.model_fields and each not in generic]


def snippets(path: Path) -> Iterator[tuple[str, str, bool]]:
    """Each piece of YAML with a key: where it stands, its text, and whether in a block of its own."""
    text = path.read_text(encoding="utf-8")
    for found in FENCED.finditer(text):
        if found[1] == "yaml" and 'title="wrong.yaml"' not in found[0]:
            yield f"{path.name}:{text.count(chr(10), 0, found.start()) + 1}", found[2], True
    rest = FENCED.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in SPAN.finditer(rest):
        if ": " in found[2]:
            inner = found[2].replace("\n", " ").strip()
            inner = inner if inner.startswith("{") else f"{{{inner}}}"
            yield f"{path.name}:{rest.count(chr(10), 0, found.start()) + 1}", inner, False


def mapping(text: str) -> Any:
    """What the text is as a mapping with plain keys, or nothing."""
    try:
        _source, root = read_tree("snippet.yaml", text.encode())
    except ScenarioError:
        return None
    if not isinstance(root, Branch) or not all(KEY.match(key) for key in root.entries):
        return None
    return plain(root)


def refusals(model: type[BaseModel], data: Any) -> list[str]:
    """Why ``data`` is not part of such a mapping; what is missing from it does not count."""
    findings = Findings()
    errors: list[str] = []
    try:
        model.model_validate(data, context=findings)
    except ValidationError as error:
        errors = [
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in error.errors(include_url=False)
            if each["type"] != "missing"
            # What concerns a mapping as a whole is about what it has not.
            and not (each["type"] == "scenario" and not each["ctx"]["at"] and each["input"] is data)
            and not PLACEHOLDER.fullmatch(str(each["input"]))
        ]
    # Keys alone, as in {base, jitter}, stand for themselves.
    unknown = [f"{each.key}: {each.message}" for each in findings.keys if each.message != "has no value"]
    return [*unknown, *errors]


def controls(data: Any, key: str = "") -> Iterator[Any]:
    """Every congestion control in a snippet."""
    if key in ("cc", "traffic.bulk.cc") and "$" not in str(data):
        yield from data if isinstance(data, list) else [data]
    elif isinstance(data, dict):
        for name, each in data.items():
            yield from controls(each, str(name))
    elif isinstance(data, list):
        for each in data:
            yield from controls(each, key)


def algorithm_accepts(data: Any) -> bool:
    """Whether some congestion control has these parameters."""
    names = re.findall(r'"([^"]+)"', refused({"algorithm": "?"}).partition("there are")[2])
    assert len(names) > 10
    return any(not refused({"algorithm": name} | data) for name in names)


def refused(algorithm: Any) -> str:
    """Why the language or Rust does not take a congestion control; empty if they do."""
    try:
        _longhaul.check_algorithm(json.dumps(TypeAdapter(CongestionControl).validate_python(algorithm)))
    except (ValidationError, ValueError) as error:
        return str(error)
    return ""


def fits(data: Any) -> bool:
    """Whether some mapping of the language has these keys with such values."""
    return any(not refusals(model, data) for model in models()) or algorithm_accepts(data)


def nearest(data: Any) -> str:
    """What the mapping that comes nearest says against it."""
    return str(min((len(problems), problems) for problems in (refusals(each, data) for each in models()))[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_yaml_of_a_page_is_of_the_language(page: Path, tmp_path: Path) -> None:
    wrong = []
    for where, text, block in snippets(page):
        if any(text.strip("{} \n").startswith(each) for each in OTHERS):
            continue
        data = mapping(text)
        if data is None:
            assert not block, f"{where}: not YAML of a scenario"
            continue
        if page.name == "sweeps.md" and set(data) <= CLUSTER_KEYS and data.get("kind", "local") in KINDS:
            continue
        if data.get("kind") == "kubernetes":
            (tmp_path / "pods.yaml").write_text(text)
            assert description_of(tmp_path / "pods.yaml")
            continue
        if "version" in data and "requests" not in data and "machines" not in data:
            resolve(parse_scenario(text.encode(), name=where))
            continue
        # A block may also be entries, of links for example.
        parts = [data] if fits(data) or not block else list(data.values())
        wrong += [f"{where}: {text.strip()[:90]}: {nearest(part)}" for part in parts if not fits(part)]
        for algorithm in controls(data):
            reason = refused(algorithm)
            if reason:
                wrong.append(f"{where}: {algorithm}: {reason}")
    assert not wrong, "\n".join(wrong)


def test_a_key_that_no_mapping_has_is_refused() -> None:
    assert Document in models()
    for text in (
        "{slow_strat: {kind: limited}}",
        "{delay: 5}",
        "{links: {a: {endpoints: [a, b], dely: 1ms}}}",
    ):
        assert not fits(mapping(text)), text
