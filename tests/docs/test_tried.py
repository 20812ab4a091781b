"""The page of what was tried names tests that exist, and every file of attacks."""

import ast
import re
from pathlib import Path

from security import planted, test_input_files, test_isolation

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/what-was-tried.md").read_text(encoding="utf-8")
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
    secrets, models = len(test_input_files.SECRETS), len(test_input_files.LAWS)
    assert f"{secrets} kinds of secret, {models} models" in PAGE
    assert f"with programs of {len(planted.PROGRAMS)} names" in PAGE
