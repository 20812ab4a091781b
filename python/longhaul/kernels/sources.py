"""Where the source of Linux comes from: a directory, a tarball, or the package of Debian."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.kernels.commands import checked
from longhaul.subprocesses import find_program, program

INSTALLED = Path("/usr/src")
"""Where Debian's packages put their tarballs."""
_REMEDY = "name one with --source: the directory or tarball of a source of Linux"
_VERSION = re.compile(r"[0-9]+\.[0-9]+(\.[0-9]+)?")
_BUILT = (".git", "*.o", "*.a", "*.ko", "*.cmd", "*.mod", ".config", "vmlinux")
"""What a source directory may have from an earlier build, and what a build does not need."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of Linux on this machine."""

    path: Path
    """A directory or a tarball."""
    origin: str
    """What a user knows it by."""

    @property
    def is_directory(self) -> bool:
        """Whether it is unpacked."""
        return self.path.is_dir()

    def digest(self) -> str:
        """SHA-256 of a tarball, or of the names and contents of all files of a directory."""
        if not self.is_directory:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        total = hashlib.sha256()
        for path in sorted(each for each in self.path.rglob("*") if each.is_file() and not each.is_symlink()):
            name = path.relative_to(self.path)
            if ".git" in name.parts or any(name.match(pattern) for pattern in _BUILT):
                continue
            with path.open("rb") as file:
                total.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\0".encode())
        return total.hexdigest()


@contextmanager
def found(version: str, given: Path | None, scratch: Path) -> Iterator[Source]:
    """The source of Linux ``version`` (as 6.12), or the ``given`` one.

    Without a tarball in /usr/src, the package is fetched with APT into ``scratch``, and remains there until
    the block ends; it is not installed. Raises LonghaulError.
    """
    if given is not None:
        yield _given(given)
        return
    if not _VERSION.fullmatch(version):
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f'"{version}" is not a version of Linux; write 6.12, for example',
            exit_code=2,
        )
    package = f"linux-source-{version}"
    installed = INSTALLED / f"{package}.tar.xz"
    if installed.is_file():
        yield Source(installed, str(installed))
        return
    place = scratch / "package"
    place.mkdir()
    try:
        yield _fetched(package, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _given(path: Path) -> Source:
    if path.is_dir():
        if not (path / "arch/um").is_dir():
            raise LonghaulError(
                Code.KERNEL_SOURCE, f"{path} is not a source of Linux: it has no arch/um", remedy=_REMEDY
            )
    elif not path.is_file():
        raise LonghaulError(Code.KERNEL_SOURCE, f"there is no {path}", remedy=_REMEDY)
    return Source(path, str(path))


def _fetched(package: str, place: Path) -> Source:
    """The tarball of a package of Debian, unpacked below ``place``."""
    apt, dpkg = find_program("apt-get"), find_program("dpkg-deb")
    if apt is None or dpkg is None:
        raise LonghaulError(
            Code.KERNEL_SOURCE,
            f"there is no {INSTALLED}/{package}.tar.xz, and no apt-get to fetch it with",
            remedy=_REMEDY,
        )
    fetched = subprocess.run(
        [apt, "download", "-q", package],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    archives = list(place.glob("*.deb"))
    if fetched.returncode or len(archives) != 1:
        why = (fetched.stderr.strip().splitlines() or ["no package came"])[-1].removeprefix("E: ").rstrip(".")
        raise LonghaulError(
            Code.KERNEL_SOURCE,
            f"cannot fetch {package} with apt-get: {why}",
            remedy=f"sudo apt-get update, or {_REMEDY}",
        )
    checked([dpkg, "-x", str(archives[0]), str(place)], f"unpack {archives[0].name}")
    tarball = place / f"usr/src/{package}.tar.xz"
    if not tarball.is_file():
        raise LonghaulError(Code.KERNEL_SOURCE, f"{archives[0].name} has no {tarball.name}", remedy=_REMEDY)
    return Source(tarball, archives[0].name)


def unpack(source: Source, place: Path) -> Path:
    """Copy or unpack a source into ``place``, a new directory; returns the tree. Raises LonghaulError."""
    if source.is_directory:
        shutil.copytree(source.path, place, symlinks=True, ignore=shutil.ignore_patterns(*_BUILT))
        return place
    place.mkdir()
    tar = [
        program("tar"),
        "--no-same-owner",
        "--no-same-permissions",
        "-C",
        str(place),
        "-xf",
        str(source.path),
    ]
    checked(tar, f"unpack {source.origin}")
    trees = [path.parent for path in place.glob("*/Kbuild")]
    if len(trees) != 1:
        raise LonghaulError(Code.KERNEL_SOURCE, f"{source.origin} is not a source of Linux", remedy=_REMEDY)
    return trees[0]


def version_of(tree: Path) -> str:
    """The version of a source, as 6.12.117. Raises LonghaulError."""
    try:
        head = (tree / "Makefile").read_text(encoding="utf-8")
    except OSError:
        head = ""
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(\S*)$", head, re.MULTILINE))
    if not {"VERSION", "PATCHLEVEL", "SUBLEVEL"} <= numbers.keys():
        raise LonghaulError(Code.KERNEL_SOURCE, f"{tree} is not a source of Linux", remedy=_REMEDY)
    return (
        f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}.{numbers['SUBLEVEL']}{numbers.get('EXTRAVERSION', '')}"
    )
