"""Deleted runs: they are moved into ``.trash`` of the directory of runs, from which they can be restored."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import ending, run_record

NAME = ".trash"


def delete(directory: Path) -> Path:
    """Move the run in ``directory``, which is ``RUNS/NAME/RUN``, to the trash; returns where it is then.

    ``latest`` and ``latest-MODE`` lead to the newest runs that are left. Raises LonghaulError if it is
    running, or cannot be moved.
    """
    place = directory.parents[1] / NAME / directory.parent.name / directory.name
    try:
        with run_record.locked(directory):
            is_running = ending.read(directory).is_running
            if not is_running:
                _move(directory, place)
    except FileNotFoundError as error:
        raise _not_there(directory) from error
    if is_running:
        raise LonghaulError(
            Code.PAGE_CONFLICT,
            f"{directory.name} is running",
            remedy="stop it, or wait for its end",
            exit_code=2,
        )
    _point_latest(directory.parent)
    return place


def restore(place: Path) -> Path:
    """Move a run from the trash to where it was; returns that. Raises LonghaulError if it is not there."""
    directory = place.parents[2] / place.parent.name / place.name
    _move(place, directory)
    _point_latest(directory.parent)
    with suppress(OSError):
        place.parent.rmdir()
        place.parents[1].rmdir()
    return directory


def deleted(runs: Path) -> Iterator[Path]:
    """The runs and sweeps in the trash of ``runs``, those with the latest names first."""
    trash = runs / NAME
    found = [
        each
        for parent in (trash.iterdir() if trash.is_dir() and not trash.is_symlink() else ())
        if parent.is_dir() and not parent.is_symlink()
        for each in parent.iterdir()
        if not each.is_symlink() and run_record.path_of(each) is not None
    ]
    yield from sorted(found, key=lambda each: each.name, reverse=True)


def _move(source: Path, target: Path) -> None:
    """Rename a directory; what is there already is never replaced."""
    try:
        for parent in (target.parents[1], target.parent):
            if parent.is_symlink():
                raise NotADirectoryError(20, "is a link", str(parent))
            if not parent.is_dir():
                parent.mkdir(exist_ok=True)
        if target.exists():
            raise FileExistsError(17, "File exists", str(target))
        # A directory replaces an empty one alone.
        storage.current().rename(source, target)
    except FileNotFoundError as error:
        raise _not_there(source) from error
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"{source} cannot be moved: {os.strerror(error.errno) if error.errno else error}",
            remedy="see the permissions of the directory of runs, and what has the same name there",
            exit_code=2,
        ) from error
    for parent in (target.parent, source.parent):
        # Somebody may have removed an empty one by now.
        with suppress(FileNotFoundError):
            storage.current().sync_directory(parent)


def _not_there(directory: Path) -> LonghaulError:
    return LonghaulError(
        Code.PAGE_NOT_FOUND, f"{directory.name} is not there", remedy="look at the list again", exit_code=2
    )


def _point_latest(parent: Path) -> None:
    """Have the links in ``parent`` lead to the newest runs; one that leads to a run of its second stays."""
    # Others may be at work here; the next run sets the links anew.
    with suppress(OSError):
        found = sorted(
            each.name
            for each in parent.iterdir()
            if not each.is_symlink()
            and not each.name.startswith(".")
            and run_record.path_of(each) is not None
        )
        newest = {"latest": found[-1]} if found else {}
        newest |= {f"latest-{name.split('-')[1]}": name for name in found if "-" in name}
        for link in parent.glob("latest*"):
            if link.is_symlink() and link.name not in newest:
                link.unlink(missing_ok=True)
        for name, run in newest.items():
            target = os.readlink(parent / name) if (parent / name).is_symlink() else ""
            if target not in found or target.partition("-")[0] < run.partition("-")[0]:
                storage.replace_link(parent / name, run)
        parent.rmdir()
