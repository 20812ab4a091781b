"""``manifest.json``: size and SHA-256 of each file of a run, relay or sweep, to detect damage."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import run_record

Json = dict[str, Any]

NAME = "manifest.json"
_VERSION = 1
_CHANGING = frozenset((NAME, "run.json", "sweep.json", "report.html", "annotations.json"))
"""Files that are written later as well."""
_MOUNTED = frozenset(("raw/hosts.d",))
"""What hosts had mounted, some files for each of them: the plan says it all."""
_REMEDY = "restore it from a copy, or run the scenario again"


@dataclass(frozen=True)
class Damage:
    """A file that is not what was written."""

    name: str
    """Its path in the directory."""
    what: str
    """``is missing`` or ``is damaged: ...``."""

    def __str__(self) -> str:
        """A clause that a reason can be."""
        return f"{self.name} {self.what}"


def write(directory: Path) -> None:
    """Record all files of a directory that is complete, and wait until they are on the device.

    What an earlier manifest says of files that nothing can write again stays, so that damage is not approved.
    """
    known = _read(directory)
    files = {}
    for name in _names(directory):
        if name in known and not is_derived(name):
            files[name] = known[name]
        else:
            files[name] = _record(directory / name)
    files |= {name: known[name] for name in known if name not in files and not is_derived(name)}
    storage.replace_json(directory / NAME, {"version": _VERSION, "files": dict(sorted(files.items()))})


def is_derived(name: str) -> bool:
    """Whether a file of this path can be written again from others: ``longhaul report DIRECTORY``."""
    if "/" in name:
        # Parts of sweeps are done again, and have their checksums in their names.
        return name.startswith(("parts/", "damaged/"))
    return name.endswith(".parquet") or name in ("summary.json", "fidelity.json")


def find_damage(directory: Path, *, derived: bool = False) -> list[Damage]:
    """The files that are not what the manifest says; with ``derived`` also those that can be written again.

    Nothing if there is no manifest: the run was killed, or is older than manifests are.
    """
    known = _read(directory)
    names = (name for name in sorted(known) if derived or not is_derived(name))
    found = (_damage(directory, name, known[name]) for name in names)
    return [each for each in found if each is not None]


def check(directory: Path, name: str) -> None:
    """Raise LonghaulError if the file ``name`` is damaged, or if it is missing and the manifest has it."""
    known = _read(directory)
    damage = _damage(directory, name, known[name]) if name in known else None
    if damage is not None:
        remedy = f"write it again: longhaul report {directory}" if is_derived(name) else _REMEDY
        raise LonghaulError(
            Code.RESULTS_DAMAGED, f"{directory / name} {damage.what}", remedy=remedy, exit_code=2
        )


def check_all(directory: Path) -> None:
    """Raise LonghaulError for the first file that is missing or damaged."""
    for damage in find_damage(directory, derived=True):
        check(directory, damage.name)


def check_sources(directory: Path) -> list[Damage]:
    """The damaged files that results are made from. Raises LonghaulError if there are none without one."""
    found = find_damage(directory)
    for damage in found:
        if damage.name.endswith((".json", ".yaml")):
            raise LonghaulError(
                Code.RESULTS_DAMAGED, f"{directory / damage.name} {damage.what}", remedy=_REMEDY, exit_code=2
            )
    return found


def update(directory: Path) -> None:
    """Write the manifest if nothing in the directory changes any more: its record says that it has ended."""
    path = run_record.path_of(directory)
    if path is not None and run_record.read(path).get("status") != "running":
        write(directory)


def _names(directory: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(directory):
        within = os.path.relpath(folder, directory)
        prefix = "" if within == "." else f"{within}/"
        folders[:] = sorted(each for each in folders if f"{prefix}{each}" not in _MOUNTED)
        for each in sorted(files):
            name = prefix + each
            # Neither symbolic links nor sockets.
            if (
                name not in _CHANGING
                and not each.startswith(".")
                and S_ISREG(os.lstat(directory / name).st_mode)
            ):
                yield name


def _record(path: Path) -> Json:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        storage.current().sync(file.fileno())
        return {"bytes": file.tell(), "sha256": digest}


def _damage(directory: Path, name: str, recorded: Mapping[str, Any]) -> Damage | None:
    path = directory / name
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < recorded["bytes"]:
                return Damage(name, f"is damaged: it has {size} of {recorded['bytes']} bytes")
            if size > recorded["bytes"]:
                # Programs may write to their logs until the last of them has ended.
                appended = name.startswith("logs/")
                head = hashlib.sha256(file.read(recorded["bytes"])).hexdigest() if appended else None
                longer = f"is damaged: it has {size} bytes, not {recorded['bytes']}"
                return None if head == recorded["sha256"] else Damage(name, longer)
            if hashlib.file_digest(file, "sha256").hexdigest() != recorded["sha256"]:
                return Damage(name, "is damaged: its content has changed since it was written (SHA-256)")
    except FileNotFoundError:
        return Damage(name, "is missing")
    except OSError as error:
        return Damage(name, f"cannot be read: {error.strerror}")
    return None


def _read(directory: Path) -> Mapping[str, Json]:
    path = directory / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        files: Mapping[str, Json] = content["files"]
        if all(isinstance(each["bytes"], int) and isinstance(each["sha256"], str) for each in files.values()):
            return files
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise LonghaulError(
        Code.RESULTS_DAMAGED,
        f"{path} is damaged",
        remedy="restore it from a copy, or remove it if you trust the other files",
        exit_code=2,
    )
