"""A build is complete or leaves nothing. A script takes the place of make; the real one takes minutes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels import building, recipe
from longhaul.kernels.building import Progress, build
from longhaul.kernels.cache import find


def names(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_a_kernel_is_named_after_its_version_and_has_its_record(cache: Path, tools: Path, tree: Path) -> None:
    heard: list[Progress] = []
    kernel = build(source=tree, listen=heard.append)
    assert names(cache) == [".lock", "6.12.99"]
    assert names(cache / "6.12.99") == ["build.log", "config", "kernel.json", "linux"]
    assert kernel == find("6.12")
    assert kernel.release == "6.12.99-longhaul"
    assert kernel.absent_options == ("CONFIG_FD_CHAN", "CONFIG_NET_SCH_DUALPI2")
    assert kernel.compiler == "gcc 1.2.3"
    assert kernel.recipe == dict(recipe.hashes())
    assert os.access(kernel.binary, os.X_OK)
    assert json.loads((kernel.directory / "kernel.json").read_text())["source"] == str(tree)
    assert Progress("compiling", 1) in heard
    assert list(dict.fromkeys(each.phase for each in heard)) == [
        "fetching the source",
        "unpacking the source",
        "changing the source",
        "configuring",
        "compiling",
        "booting it once",
    ]


def test_a_kernel_that_runs_no_programs_is_one_error_with_its_console(
    cache: Path, tools: Path, tree: Path
) -> None:
    panic = "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b"
    (tree / "kernel.sh").write_text(f"#!/bin/sh\necho '{panic}'\n")
    with pytest.raises(LonghaulError, match=f"runs no programs on this machine: {panic}") as caught:
        build(source=tree)
    assert caught.value.remedy == f"see {cache / '6.12.99.log'}"
    assert names(cache) == [".lock", "6.12.99.log"]
    assert panic in (cache / "6.12.99.log").read_text()


def test_the_source_of_the_user_is_not_changed(cache: Path, tools: Path, tree: Path) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    build(source=tree)
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


def test_the_same_kernel_is_built_once_unless_asked_for(cache: Path, tools: Path, tree: Path) -> None:
    first = build(source=tree)
    inode = first.binary.stat().st_ino
    assert build(source=tree) == first
    assert first.binary.stat().st_ino == inode
    build(source=tree, rebuild=True)
    assert first.binary.stat().st_ino != inode
    (tree / "Kbuild").write_text("# changed")
    assert build(source=tree).source_sha256 != first.source_sha256


def test_kernels_of_several_names_are_side_by_side(cache: Path, tools: Path, tree: Path) -> None:
    build(source=tree)
    build(source=tree, name="mine")
    assert names(cache) == [".lock", "6.12.99", "mine"]


def test_a_failed_build_keeps_the_log_and_the_kernel_before_it(cache: Path, tools: Path, tree: Path) -> None:
    before = build(source=tree)
    (tree / "make.sh").write_text('echo "  CC      init/main.o"; echo "init/main.c:1:2: error: no"; exit 2\n')
    with pytest.raises(LonghaulError) as error:
        build(source=tree)
    assert str(error.value) == (
        f"make linux ended with exit code 2: init/main.c:1:2: error: no; see {cache / '6.12.99.log'}"
    )
    assert "init/main.o" in (cache / "6.12.99.log").read_text()
    assert names(cache) == [".lock", "6.12.99", "6.12.99.log"]
    assert find() == before
    (tree / "make.sh").write_text("")
    build(source=tree, rebuild=True)
    assert names(cache) == [".lock", "6.12.99"]


def test_missing_programs_are_named_with_their_packages(
    cache: Path, tools: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "longhaul.kernels.commands.find_program",
        lambda name: None if name in ("flex", "xz") else f"/usr/bin/{name}",
    )
    with pytest.raises(LonghaulError, match=r": flex, xz; sudo apt-get install flex xz-utils"):
        build(source=tree)
    assert not cache.exists()


def test_a_full_disk_is_reported_before_the_build(
    cache: Path, tools: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "FREE_BYTES", 1 << 60)
    with pytest.raises(LonghaulError, match="a build needs"):
        build(source=tree)
    assert names(cache) == [".lock"]


@pytest.mark.parametrize("name", ["", "../up", ".hidden", "a/b", "x" * 65])
def test_a_name_is_a_file_name(cache: Path, tools: Path, tree: Path, name: str) -> None:
    with pytest.raises(LonghaulError, match="cannot be the name of a kernel"):
        build(source=tree, name=name)


STARTED = """\
import sys
from pathlib import Path
from longhaul.kernels.building import build
build(source=Path(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_leaves_neither_files_nor_processes(
    cache: Path, tools: Path, tree: Path, number: signal.Signals
) -> None:
    (tree / "make.sh").write_text(
        f"echo $$ > {tree}/pid\nwhile :; do echo '  CC      init/main.o' || exit; sleep 0.05; done\n"
    )
    child = subprocess.Popen([sys.executable, "-c", STARTED, str(tree)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (tree / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    maker = int((tree / "pid").read_text() or "0")
    child.send_signal(number)
    child.wait(30)
    while Path(f"/proc/{maker}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{maker}").exists()
    if number == signal.SIGKILL:
        # The next build removes what this one could not.
        (tree / "make.sh").write_text("")
        build(source=tree)
        assert names(cache) == [".lock", "6.12.99"]
    else:
        assert names(cache) == [".lock"]
