"""The kernels of a user: which one a run gets, and which it does not."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from installed_kernels import installed

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find, kernels, locked, matching, remove


def test_without_kernels_a_run_is_told_how_to_build_one(cache: Path) -> None:
    assert kernels() == []
    with pytest.raises(LonghaulError, match="no guest kernel; build one with: longhaul kernel build"):
        find()


def test_the_newest_version_is_the_default(cache: Path) -> None:
    for name in ("6.12.9", "6.12.117", "6.6.200"):
        installed(cache, name)
    assert [kernel.name for kernel in kernels()] == ["6.12.117", "6.12.9", "6.6.200"]
    assert find().name == "6.12.117"


def test_a_version_names_the_newest_kernel_that_begins_with_it(cache: Path) -> None:
    for name in ("6.12.9", "6.12.117", "6.1.4"):
        installed(cache, name)
    assert find("6.12").name == "6.12.117"
    assert find("6.1").name == "6.1.4"
    assert find("6.12.9").name == "6.12.9"
    with pytest.raises(
        LonghaulError, match=r'no guest kernel "7"; there is 6\.12\.117, 6\.12\.9, 6\.1\.4, or build'
    ):
        find("7")


def test_an_exact_name_precedes_a_longer_one(cache: Path) -> None:
    installed(cache, "6.12", built="2026-01-01T00:00:00+00:00")
    installed(cache, "6.12.117")
    assert find("6.12").name == "6.12"


def test_an_outdated_kernel_is_listed_but_not_used(cache: Path) -> None:
    old = installed(cache, "6.12.117", outdated=True)
    assert old.is_outdated
    assert kernels()[0].as_json()["outdated"] is True
    assert matching("6").name == "6.12.117"
    with pytest.raises(
        LonghaulError, match=r"6\.12\.117 was built by another version of Longhaul; build it again with"
    ):
        find()
    installed(cache, "6.12.116")
    assert find("6.12").name == "6.12.116"


def test_a_directory_without_a_whole_record_is_no_kernel(cache: Path) -> None:
    kernel = installed(cache, "6.12.117")
    (cache / "broken").mkdir()
    (cache / "broken/kernel.json").write_text('{"name": ')
    assert [each.name for each in kernels()] == ["6.12.117"]
    kernel.binary.unlink()
    assert kernels() == []


def test_a_copied_directory_is_a_kernel_of_its_own_name(cache: Path) -> None:
    kernel = installed(cache, "6.12.117")
    kernel.directory.rename(cache / "mine")
    assert find("mine") == replace(kernel, name="mine")


@pytest.mark.parametrize("name", ["6.12.9", "../6.12.9", ".lock", ""])
def test_only_a_kernel_can_be_removed(cache: Path, name: str) -> None:
    installed(cache, "6.12.117")
    with pytest.raises(LonghaulError, match=r"there is no guest kernel"):
        remove(name)
    remove("6.12.117")
    assert kernels() == []
    assert [path.name for path in cache.iterdir()] == [".lock"]


def test_the_lock_waits_for_another_process_and_ends_with_it(cache: Path) -> None:
    code = (
        "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); time.sleep(99)"
    )
    with locked():
        pass
    other = subprocess.Popen([sys.executable, "-c", code, str(cache / ".lock")], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        other.stdout.readline()
        waited = threading.Event()

        def end_the_other() -> None:
            waited.set()
            other.kill()

        with locked(end_the_other):
            assert waited.is_set()
    finally:
        other.kill()
        other.communicate()
