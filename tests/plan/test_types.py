"""The types of plans, and the plans of the repository's scenarios."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from longhaul.scenario import load_scenario, resolve

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema: dict[str, Any] = json.loads((ROOT / "crates/plan/schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)


def test_the_python_types_are_those_of_the_schema() -> None:
    command = [sys.executable, ROOT / "tools/plan-types", "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_plan_of_each_scenario_fits_the_schema(path: Path, validator: Draft202012Validator) -> None:
    plan = json.loads(json.dumps(resolve(load_scenario(path)).plan))
    errors = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(plan)]
    assert errors == []
