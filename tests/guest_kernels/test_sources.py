"""Where a source of Linux comes from, and what is said if it does not."""

import subprocess
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels import sources
from longhaul.kernels.sources import Source, found, unpack, version_of


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def test_a_directory_is_copied_without_what_an_earlier_build_left(tree: Path, tmp_path: Path) -> None:
    for name in (".config", "init.o", "arch/um/built-in.a"):
        (tree / name).touch()
    copy = unpack(Source(tree, "mine"), tmp_path / "copy")
    assert version_of(copy) == "6.12.99"
    assert not list(copy.rglob("*.[oa]"))
    assert not (copy / ".config").exists()


def test_the_digest_of_a_directory_is_that_of_names_and_contents(tree: Path) -> None:
    source = Source(tree, "mine")
    before = source.digest()
    (tree / "init.o").touch()
    assert source.digest() == before
    (tree / "Kbuild").write_text("#")
    assert source.digest() != before


def test_a_tarball_is_unpacked(tree: Path, tmp_path: Path) -> None:
    tarball = tmp_path / "linux.tar.xz"
    subprocess.run(["tar", "-C", tree.parent, "-cJf", tarball, tree.name], check=True)
    with found("6.12", tarball, tmp_path) as source:
        assert version_of(unpack(source, tmp_path / "copy")) == "6.12.99"


def test_a_tarball_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "readme").touch()
    tarball = tmp_path / "other.tar"
    subprocess.run(["tar", "-C", tmp_path, "-cf", tarball, "readme"], check=True)
    with pytest.raises(LonghaulError, match=r"other\.tar is not a source of Linux; name one with --source"):
        unpack(Source(tarball, "other.tar"), tmp_path / "copy")


def test_a_directory_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="has no arch/um"), found("6.12", tmp_path, tmp_path):
        pass


def test_the_tarball_of_an_installed_package_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "INSTALLED", tmp_path)
    (tmp_path / "linux-source-6.12.tar.xz").touch()
    with found("6.12", None, tmp_path) as source:
        assert source.path == tmp_path / "linux-source-6.12.tar.xz"


def test_without_apt_the_remedy_is_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "INSTALLED", tmp_path)
    monkeypatch.setattr(sources, "find_program", lambda _: None)
    told = "and no apt-get to fetch it with; name one with --source"
    with pytest.raises(LonghaulError, match=told), found("6.12", None, tmp_path):
        pass


def test_what_apt_reports_is_in_the_error_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "apt-get", "echo 'E: Unable to locate package linux-source-6.12' >&2; exit 100")
    monkeypatch.setattr(sources, "INSTALLED", tmp_path)
    monkeypatch.setattr(sources, "find_program", lambda name: str(tmp_path / name))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    told = r"cannot fetch linux-source-6\.12 with apt-get: Unable to locate package"
    with pytest.raises(LonghaulError, match=told), found("6.12", None, scratch):
        pass
    assert list(scratch.iterdir()) == []


def test_a_version_is_a_number(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="is not a version of Linux"), found("6.12;x", None, tmp_path):
        pass
