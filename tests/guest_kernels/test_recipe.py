"""Data files are as they were released; changes apply to the source that they are for, or not at all."""

import hashlib
import shutil
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels import recipe


def test_each_data_file_has_the_hash_in_its_list() -> None:
    files = {path.name for path in recipe.DATA.iterdir()} - {recipe.SUMS}
    found = {name: hashlib.sha256((recipe.DATA / name).read_bytes()).hexdigest() for name in files}
    assert found == dict(recipe.hashes()), "tools/kernel-hashes writes the list"


def test_a_changed_data_file_is_refused_by_name(tmp_path: Path) -> None:
    data = Path(shutil.copytree(recipe.DATA, tmp_path / "data"))
    with (data / "linux.config").open("a") as file:
        file.write("CONFIG_SMP=y\n")
    with pytest.raises(
        LonghaulError, match=r"linux\.config is not the file that Longhaul came with; install"
    ):
        recipe.load(data)


def test_a_missing_data_file_is_refused_by_name(tmp_path: Path) -> None:
    data = Path(shutil.copytree(recipe.DATA, tmp_path / "data"))
    (data / "waiting.c").unlink()
    with pytest.raises(LonghaulError, match=r"cannot read .*waiting\.c: No such file"):
        recipe.load(data)


def test_all_changes_are_applied_and_new_files_added(tree: Path) -> None:
    made = recipe.load()
    recipe.apply(made, tree, "6.12.99")
    for change in made.changes:
        assert change.replace in (tree / change.file).read_text()
    assert "default 1000" in (tree / "arch/um/Kconfig").read_text()
    for file, content in made.new.items():
        assert (tree / file).read_bytes() == content


def test_an_unknown_source_is_refused_with_file_and_version_and_nothing_is_changed(tree: Path) -> None:
    path = tree / "arch/um/kernel/skas/syscall.c"
    path.write_text(path.read_text().replace("um_udelay(1)", "um_udelay(2)"))
    before = {each: each.read_bytes() for each in tree.rglob("*") if each.is_file()}
    with pytest.raises(
        LonghaulError, match=r"do not fit Linux 7\.3\.1: arch/um/kernel/skas/syscall\.c: "
    ) as error:
        recipe.apply(recipe.load(), tree, "7.3.1")
    assert "use a source of Linux 6.12" in str(error.value)
    assert {each: each.read_bytes() for each in tree.rglob("*") if each.is_file()} == before


def test_a_context_that_occurs_twice_is_refused(tree: Path) -> None:
    path = tree / "arch/um/Kconfig"
    path.write_text(path.read_text() * 2)
    with pytest.raises(LonghaulError, match="arch/um/Kconfig: "):
        recipe.apply(recipe.load(), tree, "6.12.99")
