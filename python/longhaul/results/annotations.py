"""The annotations of a run or a sweep: title, tags and a note, in ``annotations.json`` beside its results.

They do not change results: the manifest of a run that has ended does not list the file.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from longhaul import json_text, storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import run_record
from longhaul.results.run_files import read_object

NAME = "annotations.json"
"""Which :mod:`longhaul.results.manifest` knows as a file that changes."""
LONGEST_TITLE, LONGEST_TAG, LONGEST_NOTE, MOST_TAGS = 120, 40, 20_000, 20


@dataclass(frozen=True)
class Annotations:
    """Of one run or sweep."""

    title: str = ""
    """Shown instead of the name; empty: the name is shown."""
    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def etag(self) -> str:
        """A hash of the content, also of a run without annotations."""
        return hashlib.sha256(json_text.compact(asdict(self))).hexdigest()[:32]


def read(directory: Path) -> Annotations:
    """Of the run in ``directory``; empty ones if nobody wrote any, or if they cannot be read."""
    content = read_object(directory / NAME)
    title, tags, note = (content.get(key) for key in ("title", "tags", "note"))
    return Annotations(
        title if isinstance(title, str) else "",
        tuple(each for each in tags if isinstance(each, str)) if isinstance(tags, list) else (),
        note if isinstance(note, str) else "",
    )


def write(directory: Path, new: Annotations, *, before: str | None = None) -> Annotations:
    """Replace the annotations of the run in ``directory``; those that are empty are removed.

    ``before`` is the etag that they must have still; ``None``: whatever they are. Raises LonghaulError for
    what cannot be an annotation, and where somebody else wrote meanwhile.
    """
    new = Annotations(" ".join(new.title.split()), _tags(new.tags), new.note.strip())
    _check(new)
    with run_record.locked(directory):
        if before is not None and read(directory).etag != before:
            raise LonghaulError(
                Code.PAGE_CONFLICT,
                "the title, tags or note were changed by somebody else",
                remedy="look at them again, then change them",
                exit_code=2,
            )
        if new == Annotations():
            (directory / NAME).unlink(missing_ok=True)
        else:
            storage.replace_json(directory / NAME, asdict(new))
    return new


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for each in tags if (tag := each.strip())))


def _check(new: Annotations) -> None:
    wrong = [
        tag
        for tag in new.tags
        if len(tag) > LONGEST_TAG or any(each.isspace() or each == "," for each in tag)
    ]
    if wrong:
        _refuse(f'the tag "{wrong[0][:60]}" is too long or has a blank', "use words of 40 characters at most")
    if len(new.tags) > MOST_TAGS:
        _refuse(f"{len(new.tags)} tags are too many", f"use {MOST_TAGS} at most")
    if len(new.title) > LONGEST_TITLE:
        _refuse(f"the title has {len(new.title)} characters", f"use {LONGEST_TITLE} at most")
    if len(new.note) > LONGEST_NOTE:
        _refuse(f"the note has {len(new.note)} characters", f"use {LONGEST_NOTE} at most")


def _refuse(message: str, remedy: str) -> None:
    raise LonghaulError(Code.ARGUMENT_INVALID, message, remedy=remedy, exit_code=2)
