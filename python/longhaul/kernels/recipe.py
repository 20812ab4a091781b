"""The recipe of a guest kernel: its configuration and the changes of its source, data files of this package.

Each file is compared with its SHA-256 in ``SHA256SUMS`` before it is used. The hashes are part of the record
of each kernel, so that a kernel of another recipe is noticed. After an edit, ``tools/kernel-hashes`` writes
``SHA256SUMS``.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

DATA = Path(__file__).with_name("data")
SUMS = "SHA256SUMS"
CONFIGURATION = "linux.config"
CHANGES = "changes.toml"


@dataclass(frozen=True, slots=True)
class Change:
    """``find`` occurs exactly once in ``file`` of the source, and is replaced by ``replace``."""

    file: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes a guest kernel of a source of Linux."""

    hashes: Mapping[str, str]
    """SHA-256 of each data file, by name."""
    configuration: str
    """A fragment of a ``.config``."""
    changes: tuple[Change, ...]
    new: Mapping[str, bytes]
    """Files to add to the source, by path."""


@cache
def hashes(data: Path = DATA) -> Mapping[str, str]:
    """SHA-256 of the data files of this version of Longhaul, by name, as ``SHA256SUMS`` lists them."""
    found = {}
    for line in _read(data / SUMS).decode("utf-8").splitlines():
        digest, _, name = line.partition("  ")
        found[name] = digest
    return found


def load(data: Path = DATA) -> Recipe:
    """Read and verify all data files. Raises LonghaulError if one is missing or differs from its hash."""
    expected = hashes(data)
    contents = {name: _read(data / name) for name in expected}
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != expected[name]:
            raise LonghaulError(
                Code.KERNEL_SOURCE,
                f"{data / name} is not the file that Longhaul came with",
                remedy="install Longhaul again",
            )
    table = tomllib.loads(contents[CHANGES].decode("utf-8"))
    return Recipe(
        hashes=expected,
        configuration=contents[CONFIGURATION].decode("utf-8"),
        changes=tuple(Change(**each) for each in table["change"]),
        new={each["file"]: contents[each["from"]] for each in table["new"]},
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LonghaulError(
            Code.KERNEL_SOURCE, f"cannot read {path}: {error.strerror}", remedy="install Longhaul again"
        ) from None


def apply(recipe: Recipe, tree: Path, version: str) -> None:
    """Change the source of Linux ``version`` in ``tree``.

    Raises LonghaulError, before anything is changed, if the source is not as the changes expect it.
    """
    texts: dict[str, str] = {}
    for change in recipe.changes:
        text = texts.get(change.file)
        if text is None:
            text = _source_text(tree, change.file, version)
        if text.count(change.find) != 1:
            raise _unknown_source(version, change.file, f'"{_first_line(change.find)}" is not there once')
        texts[change.file] = text.replace(change.find, change.replace)
    for file in recipe.new:
        if not (tree / file).parent.is_dir():
            raise _unknown_source(version, file, "its directory is missing")
    for file, text in texts.items():
        (tree / file).write_text(text, encoding="utf-8")
    for file, content in recipe.new.items():
        (tree / file).write_bytes(content)


def _source_text(tree: Path, file: str, version: str) -> str:
    try:
        return (tree / file).read_text(encoding="utf-8")
    except OSError:
        raise _unknown_source(version, file, "the file is missing") from None


def _unknown_source(version: str, file: str, why: str) -> LonghaulError:
    return LonghaulError(
        Code.KERNEL_SOURCE,
        f"the changes for virtual time do not fit Linux {version}: {file}: {why}",
        remedy="use a source of Linux 6.12",
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()
