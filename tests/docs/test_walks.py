"""Documents for developers name files that exist; each walk through the code names a file once."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/walks.md").read_text(encoding="utf-8")
WALKS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
FOLDERS = ("bench", "crates", "docs", "fuzz", "python", "scenarios", "studies", "tests", "tools", "web")
SUFFIXES = ("ipynb", "json", "md", "py", "pyi", "rs", "svelte", "toml", "ts", "txt", "yaml")
MADE_BY_RUNS = frozenset({"plan.json", "run.json", "summary.json", "raw/engine.json"})


def paths(text: str) -> list[str]:
    """The paths in code font and at the beginning of lines: from the root, or names of files."""
    found = re.findall(r"`([^`\s]+)[^`\n]*`", re.sub(r"```\w+\n.*?```", "", text, flags=re.DOTALL))
    found += re.findall(rf"^((?:{'|'.join(FOLDERS)})/[^ ,]+)", text, re.MULTILINE)
    wanted = rf"(?:{'|'.join(FOLDERS)})/[\w./*-]+|[a-z][\w/-]*\.(?:{'|'.join(SUFFIXES)})"
    return [path.removesuffix("/") for path in found if re.fullmatch(wanted, path)]


@cache
def files() -> tuple[str, ...]:
    """Every file of the repository, committed or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return tuple(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())


def exists(path: str) -> bool:
    """Whether a path leads to a file or a folder; a file may be named without its folder."""
    if path.startswith(tuple(f"{folder}/" for folder in FOLDERS)):
        return any(ROOT.glob(path))
    return any(f"/{file}".endswith(f"/{path}") for file in files())


def missing(text: str) -> list[str]:
    """The paths of ``text`` that lead to nothing."""
    return [path for path in paths(text) if not exists(path)]


def test_there_are_three_walks() -> None:
    assert len(WALKS) == 3


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_names_files_that_exist_each_once(name: str) -> None:
    files = re.findall(r"^\| `([^`]+)` \|", WALKS[name], re.MULTILINE)
    assert len(files) > 5
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/how-to/changing.md"])
def test_paths_of_a_page_for_developers_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(paths(text)) > 20
    assert [path for path in missing(text) if path not in MADE_BY_RUNS] == []


def test_only_the_files_of_the_example_are_missing_in_the_recipe_for_an_algorithm() -> None:
    text = (ROOT / "docs/how-to/congestion-control.md").read_text(encoding="utf-8")
    assert {path for path in missing(text) if "steady" not in path} <= MADE_BY_RUNS | {
        "algorithms.yaml",
        "rules.yaml",
    }


def test_a_path_that_does_not_exist_is_found() -> None:
    text = "`tools/fuzz`, `python/longhaul/absent.py`, `loss.py`, `absent.py`, `tests/*.zip`, `run --watch`"
    assert missing(text) == ["python/longhaul/absent.py", "absent.py", "tests/*.zip"]
