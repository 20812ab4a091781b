"""A file is complete or absent, whichever operation on the disk fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.storage import Faulty, each_fault, parts
from longhaul import storage


def test_a_file_is_the_old_one_or_the_new_one_after_every_fault(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    old, new = b"old", os.urandom(200_000)

    def program() -> None:
        for each in tmp_path.iterdir():
            each.unlink()
        path.write_bytes(old)
        storage.replace_bytes(path, new)

    seen = set()
    for outcome in each_fault(program):
        content = path.read_bytes()
        assert content in (old, new)
        assert outcome.error is not None
        if not outcome.kind.startswith("crash"):
            assert isinstance(outcome.error, OSError)
            assert outcome.error.filename in (str(path), None)
            assert parts(tmp_path) == [], "an error leaves nothing behind"
        renamed = outcome.change.startswith("sync ") or (
            outcome.change.startswith("rename") and outcome.kind == "crash after"
        )
        assert content == (new if renamed else old), outcome
        seen.add((outcome.kind, content == new))
    assert ("crash before", False) in seen
    assert ("crash after", True) in seen


def test_a_file_is_synced_before_it_is_renamed_and_its_directory_after(tmp_path: Path) -> None:
    counting = Faulty()
    with storage.using(counting):
        storage.replace_text(tmp_path / "summary.json", "{}\n")
    names = [each.split()[0] for each in counting.changes]
    assert names == ["create", "write", "sync", "rename", "sync"]


def test_a_link_leads_to_the_old_or_the_new_target_after_every_fault(tmp_path: Path) -> None:
    path = tmp_path / "latest"

    def program() -> None:
        for each in tmp_path.iterdir():
            each.unlink()
        path.symlink_to("first")
        storage.replace_link(path, "second")

    for outcome in each_fault(program):
        assert os.readlink(path) in ("first", "second")
        if not outcome.kind.startswith("crash"):
            assert parts(tmp_path) == []


def test_an_error_in_the_block_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "links.parquet"
    path.write_bytes(b"old")

    def write_half() -> None:
        with storage.replacing(path) as file:
            file.write(b"half of")
            raise ValueError("no such column")

    with pytest.raises(ValueError, match="no such column"):
        write_half()
    assert path.read_bytes() == b"old"
    assert parts(tmp_path) == []


def test_a_symbolic_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "results.json"
    victim.write_text("0600")
    victim.chmod(0o600)
    path.symlink_to(victim)
    storage.replace_text(path, "results")
    assert victim.read_text() == "0600"
    assert victim.stat().st_mode & 0o777 == 0o600
    assert not path.is_symlink()
    assert path.read_text() == "results"


def test_a_planted_temporary_file_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "part_name", lambda name: f".{name}.part")
    victim, path = tmp_path / "victim", tmp_path / "results.json"
    victim.write_text("precious")
    (tmp_path / ".results.json.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        storage.replace_text(path, "results")
    assert victim.read_text() == "precious"
    assert (tmp_path / ".results.json.part").is_symlink()


def test_permissions_are_those_of_any_new_file_or_those_asked_for(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; os.umask(0o027)\n"
        "from longhaul import storage\n"
        "storage.replace_text(pathlib.Path(sys.argv[1]) / 'a', 'a')\n"
        "storage.replace_bytes(pathlib.Path(sys.argv[1]) / 'b', b'b', mode=0o666)\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code, tmp_path], check=True)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o666
