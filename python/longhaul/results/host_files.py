"""What programs of hosts on other machines have written, in a run on the virtual clock.

Each machine sends ``logs/`` and ``raw/hosts.d/`` of its hosts at the end of the run, packed. The run's
supervisor writes that as it comes, to ``raw/machine-NAME.tar.gz``.
"""

import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from longhaul import log, storage

COLLECTED = ("logs", "raw/hosts.d")
"""What of a machine's directory is sent."""
_PREFIX = "machine-"
_SUFFIX = ".tar.gz"


def pack(directory: Path, archive_file: Path) -> None:
    """Write what the hosts have left in ``directory``, packed."""
    with tarfile.open(archive_file, mode="w:gz", compresslevel=1) as archive:
        for name in COLLECTED:
            if (directory / name).exists():
                archive.add(directory / name, arcname=name)


def unpack_all(directory: Path) -> None:
    """Put what machines have sent to the run's own files; does nothing where no machine has."""
    for path in sorted((directory / "raw").glob(f"{_PREFIX}*{_SUFFIX}")):
        try:
            with path.open("rb") as packed:
                extract(packed, directory)
        except (OSError, ValueError) as error:
            machine = path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
            log.warn_of(f"machine {machine}: not all files of its hosts have come: {error}")
        storage.discard(path)


def extract(packed: BinaryIO, directory: Path) -> None:
    """Write the files and directories of an archive (tar, also compressed); nothing outside ``directory``.

    Raises ValueError, when what comes before the damage has been written, and OSError.
    """
    try:
        with tarfile.open(fileobj=packed, mode="r:*") as archive:
            for member in archive:
                _extract(archive, member, directory)
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"a damaged archive: {error}") from error


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, directory: Path) -> None:
    # Python 3.11.2 of Debian 12 has no extraction filters yet.
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"a damaged archive: {member.name} is outside of it")
    place = directory / name
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
    elif member.isfile() and (source := archive.extractfile(member)) is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as target:
            shutil.copyfileobj(source, target)
        place.chmod(member.mode & 0o755 | 0o600)
