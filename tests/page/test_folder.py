"""Files of the page's directory: read and written whole, and by nobody else meanwhile."""

from pathlib import Path

import pytest

from longhaul.page import folder
from longhaul.page.refusals import RefusedError


def test_a_file_is_what_was_written(tmp_path: Path) -> None:
    first = folder.write(tmp_path, "a.yaml", "version: 1\r\n", before=None)
    assert folder.read(tmp_path, "a.yaml") == {**first, "text": "version: 1\r\n"}
    second = folder.write(tmp_path, "a.yaml", "version: 2\n", before=first["etag"])
    assert [each["etag"] for each in folder.listing(tmp_path)] == [second["etag"]]
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("change", ["written", "removed", "made"])
def test_what_somebody_else_wrote_is_not_overwritten(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.yaml"
    before = folder.write(tmp_path, "a.yaml", "mine", before=None)["etag"]
    if change == "removed":
        path.unlink()
    elif change == "written":
        path.write_text("theirs")
    with pytest.raises(RefusedError) as refused:
        folder.write(tmp_path, "a.yaml", "mine again", before=None if change == "made" else before)
    assert refused.value.status == 409
    assert not path.exists() or path.read_text() == ("theirs" if change == "written" else "mine")


def test_a_files_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a")
    path.chmod(0o640)
    folder.write(tmp_path, "a.yaml", "b", before=folder.etag(b"a"))
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.yaml").write_text("old")
    (tmp_path / "a.yaml").symlink_to("b/c.yaml")
    folder.write(tmp_path, "a.yaml", "new", before=folder.etag(b"old"))
    assert (tmp_path / "a.yaml").is_symlink()
    assert (tmp_path / "b" / "c.yaml").read_text() == "new"


@pytest.mark.parametrize("name", ["../a.yaml", "/etc/a.yaml", ".a.yaml", "a.txt", "a/b.yaml", "", "a\n.yaml"])
def test_no_name_leads_elsewhere(tmp_path: Path, name: str) -> None:
    for use in (lambda: folder.read(tmp_path, name), lambda: folder.write(tmp_path, name, "", before=None)):
        with pytest.raises(RefusedError, match="cannot name a file"):
            use()


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(RefusedError, match="not UTF-8"):
        folder.read(tmp_path, "a.yaml")
    (tmp_path / "b.yaml").write_bytes(b"#" * (folder.MOST_BYTES + 1))
    with pytest.raises(RefusedError, match="too large"):
        folder.read(tmp_path, "b.yaml")
