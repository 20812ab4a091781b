"""Files and tests that documents name exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`((?:crates|python|tests|tools|web)/[\w./-]+\.(?:rs|py|c|h|ts|svelte))`")
TEST = re.compile(r"`(test_\w+|\w+(?:_\w+){4,})(?:\[[^`]*)?`")
# A guide that tells how to add these.
NEW = {"crates/congestion/src/steady.rs"}


def prose(path: Path) -> str:
    return FENCED.sub("", path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def sources() -> str:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "crates/*.rs", "tests/*.py", "web/*.ts"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def test_source_files_that_documents_name_exist() -> None:
    named = {
        (str(page.relative_to(ROOT)), file)
        for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        for file in FILE.findall(prose(page))
    }
    assert {each for each in named if each[1] not in NEW and not (ROOT / each[1]).is_file()} == set()


def test_tests_that_models_name_exist(sources: str) -> None:
    known = set(re.findall(r"\b(?:fn|def) (\w+)", sources))
    named = {
        (page.name, name)
        for page in (ROOT / "docs/models").glob("*.md")
        for name in TEST.findall(prose(page))
    }
    metrics = {each for each in named if each[1].startswith("longhaul_")}
    assert {each for each in named - metrics if each[1] not in known} == set()
    assert len(named) > 100
