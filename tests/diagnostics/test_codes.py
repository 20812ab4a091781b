"""Every code is explained, made somewhere, and given by its example."""

import ast
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import longhaul
from longhaul.cli.explanation_text import explain
from longhaul.diagnostics import Code, Diagnostic
from longhaul.diagnostics.explanations import Example, explanations
from longhaul.errors import LonghaulError
from longhaul.export.deployment import deploy
from longhaul.export.qdiscs import Kernel
from longhaul.run import live
from longhaul.run.check import examine
from longhaul.run.sim import simulated_plan
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps.preparation import prepare
from longhaul.transfers.plan import policies
from longhaul.transfers.plan.request_files import placed, read_requests

SOURCES = Path(longhaul.__file__).parent
RETIRED: frozenset[str] = frozenset()
"""Codes that had a meaning in an earlier version; none is used again."""
ELSEWHERE = {
    Code.ALGORITHM_NOT_LIVE: "depends on the kernel",
    Code.NOT_VIRTUAL: "depends on the clock, and on where Longhaul is installed",
    Code.NOT_DIVISIBLE: "depends on --shards",
    Code.FOREIGN_FILE_MALFORMED: "a file of another program",
    Code.CAPTURE_UNUSABLE: "a packet capture",
    Code.SAMPLE_UNUSABLE: "a sample to fit",
    Code.NOT_A_SWEEP: "the command line, or a directory",
    Code.CHANGE_MALFORMED: "the command line",
    Code.GATEWAY_NOT_NAMED: "the command line",
    Code.GATEWAY_UNREACHABLE: "another process",
    Code.PASSWORD_INVALID: "another file",
    Code.REQUEST_INVALID: "the Python API; files are refused key by key",
    Code.MACHINES_INVALID: "another file",
    Code.DEFAULT_ALGORITHM: "depends on the machine",
    Code.ALGORITHM_CHANGED_LATE: "a live run",
    Code.DELAY_TOO_SHORT: "a live run",
    Code.MACHINE_INACCURATE: "depends on the machine",
    Code.SOCKET_BUFFER_LIMITED: "depends on the machine",
    Code.CAPTURE_CHANGED: "a packet capture",
    Code.OPEN_PROXY: "a relay's command",
    Code.RELAY_IGNORES: "a relay's command",
}
"""Codes below E20 that no scenario by itself gives, and what does."""
WEAK = {
    "cpus": 2,
    "faithful_bits_per_s": 10**6,
    "faithful_packets_per_s": 100,
    "hosts_per_s": 10.0,
    "jitter_p50_ns": 10**6,
    "jitter_p99_ns": 2 * 10**6,
}
"""What a slow machine has shown."""


def check(path: Path) -> Iterable[Diagnostic]:
    """What ``longhaul check`` reports on a slow machine."""
    return examine(load_scenario(path), certificate=WEAK).warnings


def simulate(path: Path) -> Iterable[Diagnostic]:
    """What a simulation reports before it starts."""
    simulated_plan(resolve(load_scenario(path)))
    return ()


def run(path: Path) -> Iterable[Diagnostic]:
    """What a live run reports of settings that no kernel has."""
    return live._settings_only_simulated(resolve(load_scenario(path)))


def sweep(path: Path) -> Iterable[Diagnostic]:
    """What a sweep reports before it starts."""
    return prepare(path, settings={}, options=Options()).warnings


def schedule(path: Path) -> Iterable[Diagnostic]:
    """What the plan of transfers reports."""
    policies.plan(placed(read_requests(path), network=None, capacity_bits_per_s=None), policy="slots-minbw")
    return ()


def export(path: Path) -> Iterable[Diagnostic]:
    """What the export to tc reports."""
    return deploy(resolve(load_scenario(path)), machines=None, kernel=Kernel()).warnings


REPORTED_BY: dict[Code, Callable[[Path], Iterable[Diagnostic]]] = {
    Code.NO_TRAFFIC: simulate,
    Code.SIMULATED_ONLY: run,
    Code.PROGRAMS_LEFT_OUT: sweep,
    Code.REPETITIONS_EQUAL: sweep,
    Code.REQUEST_NETWORK: schedule,
    Code.POLICY_UNSUITABLE: schedule,
    Code.EXPORT_IMPOSSIBLE: export,
    Code.EXPORT_LEAVES_OUT: export,
    Code.EXPORT_APPROXIMATES: export,
}
"""Where it is not ``longhaul check``."""


def reported(code: Code, example: Example, folder: Path) -> list[Code]:
    """The codes that the command gives for ``example``."""
    path = folder / "example.yaml"
    path.write_bytes(example.content)
    for name, content in example.files.items():
        (folder / name).write_text(content, encoding="utf-8")
    try:
        return [each.code for each in REPORTED_BY.get(code, check)(path)]
    except LonghaulError as error:
        return [each.code for each in error.diagnostics]


WITH_EXAMPLE = [code for code, each in explanations().items() if each.wrong]


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_the_wrong_example_gives_the_code(code: Code, tmp_path: Path) -> None:
    wrong = explanations()[code].wrong
    assert wrong is not None
    assert code in reported(code, wrong, tmp_path)


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_the_right_example_gives_no_error(code: Code, tmp_path: Path) -> None:
    right = explanations()[code].right
    assert right is not None
    found = reported(code, right, tmp_path)
    assert code not in found
    assert not [each for each in found if each.startswith("E")]


def test_every_code_of_scenarios_has_an_example() -> None:
    without = {code for code in Code if code not in WITH_EXAMPLE and not code.startswith("E2")}
    assert without == set(ELSEWHERE)


def test_codes_are_unique_and_retired_ones_are_not_used_again() -> None:
    codes = [code.value for code in Code]
    assert len(set(codes)) == len(codes)
    assert not RETIRED & set(codes)
    assert all(re.fullmatch(r"[EW]\d{4}", code) for code in codes)
    assert codes == sorted(codes, key=lambda code: (code[0], code))


@pytest.mark.parametrize("code", list(Code))
def test_every_code_is_explained_in_one_to_six_sentences(code: Code) -> None:
    found = explanations()[code]
    assert found.family
    assert not found.title.endswith(".")
    assert 1 <= len(re.findall(r"[.:?](?: |$)", found.text)) <= 6


def used(tree: ast.AST) -> set[str]:
    """The codes that a module names, as ``Code.UNIT_MISSING``."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Code"
    }


def test_every_code_is_made_somewhere() -> None:
    modules = [path for path in SOURCES.rglob("*.py") if path.parent.name != "explanations"]
    named = set[str]().union(*(used(ast.parse(path.read_text(encoding="utf-8"))) for path in modules))
    assert named >= {code.name for code in Code}


def test_a_code_is_found_in_either_case_and_with_its_brackets() -> None:
    text = explain("E0301", as_json=False)
    assert text.startswith("E0301: a quantity has no unit\n\n")
    assert explain("e0301", as_json=False) == explain("[E0301]", as_json=False) == text
    assert "Wrong:\n    links: {wan: {endpoints: [a, b], delay: 5}}" in text
    assert "Correct:\n    links: {wan: {endpoints: [a, b], delay: 5ms}}" in text


def test_an_unknown_code_names_the_nearest_of_its_family() -> None:
    with pytest.raises(LonghaulError, match=r'there is no code "E0413"; did you mean E041.\?'):
        explain("E0413", as_json=False)
    with pytest.raises(LonghaulError, match="longhaul explain lists all codes"):
        explain("nonsense", as_json=False)


def test_without_a_code_all_are_listed() -> None:
    text = explain(None, as_json=False)
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  ")] == list(Code)
    assert [each["code"] for each in json.loads(explain(None, as_json=True))] == list(Code)


def test_an_explanation_as_json_has_title_text_and_example() -> None:
    found = json.loads(explain("W0101", as_json=True))
    assert (found["code"], found["severity"]) == ("W0101", "warning")
    assert found["explanation"] == explanations()[Code.UNUSED].text
    assert found["wrong"]["scenario"].startswith("params: {wan_delay: 5ms}")
