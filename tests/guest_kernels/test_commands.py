"""``longhaul kernel``: what its commands print."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from installed_kernels import installed

from longhaul.cli.main import longhaul
from longhaul.errors import LonghaulError


def run(*words: str) -> Result:
    """Run a command; raise what it raises."""
    return CliRunner().invoke(longhaul, ["kernel", *words], catch_exceptions=False)


def test_an_empty_list_says_how_to_build_a_kernel(cache: Path) -> None:
    assert run("list").stdout == "no guest kernels; build one with: longhaul kernel build\n"
    assert json.loads(run("list", "--json").stdout) == []


def test_the_list_marks_outdated_kernels(cache: Path) -> None:
    installed(cache, "6.12.117")
    installed(cache, "6.12.116", outdated=True)
    rows = run("list").stdout.splitlines()
    assert rows[1].split()[0] == "6.12.117"
    assert rows[1].rstrip().endswith("usable")
    assert rows[2].rstrip().endswith("outdated: build it again")
    assert [each["outdated"] for each in json.loads(run("list", "--json").stdout)] == [False, True]


def test_info_has_hashes_and_the_path(cache: Path) -> None:
    kernel = installed(cache, "6.12.117")
    text = run("info", "6.12").stdout
    assert str(kernel.binary) in text
    assert kernel.source_sha256 in text
    record = json.loads(run("info", "6.12", "--json").stdout)
    assert record["path"] == str(kernel.binary)
    assert record["recipe"].keys() >= {"linux.config", "changes.toml", "waiting.c"}


def test_build_prints_progress_and_the_kernel(cache: Path, tools: Path, tree: Path) -> None:
    done = run("build", "--source", str(tree), "--name", "mine")
    assert done.stdout == f"mine (6.12.99-longhaul, 61 B): {cache / 'mine/linux'}\n"
    assert [line.partition(",")[0] for line in done.stderr.splitlines()] == [
        "fetching the source",
        "unpacking the source",
        "changing the source",
        "configuring",
        "compiling",
        "booting it once",
    ]
    assert json.loads(run("build", "--source", str(tree), "--json").stdout)["name"] == "6.12.99"


def test_remove_says_what_it_removed(cache: Path) -> None:
    kernel = installed(cache, "6.12.117")
    assert run("remove", "6.12.117").stdout == f"removed {kernel.directory}\n"
    with pytest.raises(LonghaulError, match="there is no guest kernel"):
        run("remove", "6.12.117")
