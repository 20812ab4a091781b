"""One diagnostic is the same on the terminal, in JSON, on the page and in Python."""

import json
from pathlib import Path
from typing import Any

import pytest

from longhaul.diagnostics import Code, Diagnostic, Span
from longhaul.errors import LonghaulError
from longhaul.page.scenario_check import look
from longhaul.run.check import report
from longhaul.scenario import ScenarioError, parse_scenario, resolve

SCENARIO = """\
version: 1
name: one
nodes:
  a: {kind: host}
  b: {kind: host}
  r: {kind: router}
links: {ab: {endpoints: [a, b], delay: 5ms}}
"""
WRONG = SCENARIO.replace("5ms", "5")


def checked(tmp_path: Path, text: str) -> tuple[str, dict[str, Any]]:
    """What ``check`` prints, and with --json, of a file called ``scenario.yaml``."""
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    (answer,) = json.loads(report([path], settings={}, as_json=True)[0])
    return report([path], settings={}, as_json=False)[0], answer


def test_a_diagnostic_without_a_place_is_message_and_remedy() -> None:
    code = Code.FILE_UNWRITABLE
    error = LonghaulError(code, "no space is left", remedy="free some")
    assert error.diagnostics == (Diagnostic(code, "no space is left", "free some"),)
    assert error.headline == error.diagnostics[0].headline == "no space is left; free some [E2002]"
    assert Diagnostic(Code.UNUSED, "has a gap", file="t.csv").headline == "t.csv: has a gap [W0101]"


@pytest.mark.parametrize("span", [None, Span(3, 9, 2)])
def test_json_has_all_but_the_source_line(span: Span | None) -> None:
    found = Diagnostic(Code.UNUSED, "is unused", "remove it", "a.yaml", span, "links.ab")
    assert Diagnostic.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_an_error_is_the_same_everywhere(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(WRONG.encode(), name=str(tmp_path / "scenario.yaml"))
    (error,) = caught.value.diagnostics
    assert error.code == "E0301"
    assert (error.severity, error.path, error.span) == ("error", "links.ab.delay", Span(7, 40, 1))
    printed, answer = checked(tmp_path, WRONG)
    assert str(error) in printed
    assert error.headline.endswith(" [E0301]")
    assert answer["problems"] == [error.as_json()]
    (shown,) = look(WRONG, folder=tmp_path)["problems"]
    assert str(shown.pop("explanation")).startswith("A quantity has no unit. ")
    assert shown == {key: value for key, value in error.as_json().items() if key != "file"}


def test_a_warning_is_the_same_everywhere(tmp_path: Path) -> None:
    resolved = resolve(parse_scenario(SCENARIO.encode(), name=str(tmp_path / "scenario.yaml")))
    (warning,) = resolved.warnings
    assert (warning.code, warning.severity, warning.path) == ("W0103", "warning", "nodes.r")
    printed, answer = checked(tmp_path, SCENARIO)
    assert f"warning: {warning.headline}\n" in printed
    assert answer["warnings"] == [warning.as_json()]
    (shown,) = look(SCENARIO, folder=tmp_path)["problems"]
    assert str(shown.pop("explanation")).startswith("No link reaches a router. ")
    assert shown == {key: value for key, value in warning.as_json().items() if key != "file"}
