"""The page of attacks and faults names tests that exist, and every file of attacks."""

import ast
import csv
import json
import re
from pathlib import Path

from security import planted, test_input_files, test_isolation

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/attacks-and-faults.md").read_text(encoding="utf-8")
CAMPAIGN = ROOT / "studies/faults/campaign"
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def test_every_test_that_the_page_names_exists() -> None:
    assert len(NAMED) > 40
    assert [(path, name) for path, name in NAMED if name not in functions(ROOT / path)] == []


def test_every_file_of_attacks_is_on_the_page() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/security").glob("test_*.py")}
    assert found <= {path for path, _name in NAMED}


def test_its_counts_are_those_of_the_tests() -> None:
    acts = test_isolation.ATTACKS.count("\ntry ")
    assert f"{acts} acts, in `run` and in `shell`" in PAGE
    secrets, models = len(test_input_files.SECRETS), len(test_input_files.MODELS)
    assert f"{secrets} kinds of secret, {models} models" in PAGE
    assert f"with programs of {len(planted.PROGRAMS)} names" in PAGE


def test_it_has_the_table_and_the_counts_of_the_fault_campaign() -> None:
    assert (CAMPAIGN / "table.md").read_text(encoding="utf-8") in PAGE
    found = json.loads((CAMPAIGN / "provenance.json").read_text(encoding="utf-8"))
    prose = " ".join(PAGE.split())
    assert f"the {found['trials']} trials of seed 1; all {found['good']} are good" in prose
    assert (
        f"In {found['trials'] - found['with_a_run_directory']} of them the fault ended the command" in prose
    )
    assert f"count the other {found['with_a_run_directory']}." in prose


def test_trials_of_the_fault_campaign_name_no_directory_of_the_machine() -> None:
    with (CAMPAIGN / "trials.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    said = [text for row in rows for text in row.values()]
    assert [text for text in said if re.search(r"(?<![\w.])/(tmp|sys|root|home)/", text)] == []
    # A trial whose command ended before there was a run has no reason and no results of a run.
    assert {(row["ended"], row["readable"]) for row in rows if row["status"] == "none"} == {
        ("False", "False")
    }
