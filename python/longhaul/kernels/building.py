"""Building a guest kernel: fetch, unpack, change, configure, compile, boot, and keep it under its name."""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.kernels import cache, configuration, recipe, sources
from longhaul.kernels.booting import require_boot
from longhaul.kernels.cache import Kernel
from longhaul.kernels.commands import logged, require_tools
from longhaul.storage import discard, part_name, replace_json
from longhaul.subprocesses import program

DEFAULT_VERSION = "6.12"
SUFFIX = "-longhaul"
"""Of the release of a guest kernel: CONFIG_LOCALVERSION."""
FREE_BYTES = 3 << 30
"""What a build needs on the disk while it lasts: the source is 1.6 GB, the objects 0.3 GB."""
CPU_S = 16 * 60.0
"""CPU time of a build, on a machine of 2026."""
STEPS_EXPECTED = 2000
"""Lines that make prints for the configuration of Longhaul, roughly: for a display of progress."""
_STEP = re.compile(r"  [A-Z][A-Z0-9_+]* +\S")
_KCONFIG = re.compile(r"^\s*(?:menu)?config\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Progress:
    """What a build is doing."""

    phase: str
    done: int = 0
    """Steps of make that are done, of about ``STEPS_EXPECTED``; 0 in other phases."""


Listener = Callable[[Progress], None]


def build(
    version: str = DEFAULT_VERSION,
    *,
    source: Path | None = None,
    name: str | None = None,
    jobs: int | None = None,
    rebuild: bool = False,
    listen: Listener = lambda _: None,
) -> Kernel:
    """Build a kernel from the source of Linux ``version``, or from ``source``, a directory or a tarball.

    It is named after its version, as 6.12.117, or ``name``; a kernel that has the name is replaced. ``jobs``
    compilers run at once, one for each CPU by default. If the same kernel is there, it is returned, unless
    ``rebuild``. Raises LonghaulError; then nothing has changed, but the log is kept as ``NAME.log``.
    """
    if name is not None:
        cache.check_name(name)
    require_tools()
    what = recipe.load()
    with cache.locked(lambda: listen(Progress("waiting for another build"))):
        cache.discard_unfinished()
        _require_space(cache.cache_directory())
        scratch = cache.cache_directory() / part_name("build")
        scratch.mkdir(mode=0o700)
        try:
            build = _Build(what, scratch, jobs or len(os.sched_getaffinity(0)), rebuild, listen)
            return build.run(version, source, name)
        finally:
            discard(scratch)


@dataclass
class _Build:
    """One build, in a directory of its own."""

    recipe: recipe.Recipe
    scratch: Path
    jobs: int
    rebuild: bool
    listen: Listener

    def run(self, version: str, given: Path | None, name: str | None) -> Kernel:
        begin = time.monotonic()
        self.listen(Progress("fetching the source"))
        with sources.found(version, given, self.scratch) as source:
            self.listen(Progress("unpacking the source"))
            digest = source.digest()
            if not self.rebuild and (there := _same(digest, name)):
                return there
            tree = sources.unpack(source, self.scratch / "source")
        exact = sources.version_of(tree)
        name = name or exact
        cache.check_name(name)
        self.listen(Progress("changing the source"))
        recipe.apply(self.recipe, tree, exact)
        result = self.scratch / "result"
        result.mkdir()
        with (result / cache.LOG).open("wb") as log:
            try:
                absent = self._configure(tree, exact, log)
                self._compile(tree, log)
                self.listen(Progress("booting it once"))
                require_boot(tree / "linux", log)
            except LonghaulError as error:
                raise self._with_kept_log(error, result / cache.LOG, name) from None
        release = (tree / "include/config/kernel.release").read_text(encoding="ascii").strip()
        shutil.copyfile(tree / ".config", result / cache.CONFIG)
        shutil.copyfile(tree / "linux", result / cache.BINARY)
        (result / cache.BINARY).chmod(0o755)
        with (result / cache.BINARY).open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        kernel = Kernel(
            name=name,
            release=release,
            source=source.origin,
            source_sha256=digest,
            recipe=dict(self.recipe.hashes),
            absent_options=tuple(absent),
            sha256=sha256,
            compiler=configuration.values(_text(tree / ".config"))["CONFIG_CC_VERSION_TEXT"].strip('"'),
            built=datetime.now(UTC).isoformat(timespec="seconds"),
            build_s=round(time.monotonic() - begin, 1),
        )
        replace_json(result / cache.RECORD, asdict(kernel))
        _install(result, kernel.directory)
        return kernel

    def _configure(self, tree: Path, version: str, log: BinaryIO) -> list[str]:
        """Configure; returns the wanted options that this version does not have."""
        self.listen(Progress("configuring"))
        fragment = self.scratch / recipe.CONFIGURATION
        fragment.write_text(self.recipe.configuration, encoding="utf-8")
        self._make(tree, log, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")
        return configuration.unmet(
            configuration.parse(self.recipe.configuration),
            _text(tree / ".config"),
            _options_of(tree),
            version,
        )

    def _compile(self, tree: Path, log: BinaryIO) -> None:
        done = 0

        def on_line(line: str) -> None:
            nonlocal done
            if _STEP.match(line):
                done += 1
                self.listen(Progress("compiling", done))

        self.listen(Progress("compiling"))
        self._make(tree, log, f"-j{self.jobs}", "linux", on_line=on_line)

    def _make(
        self, tree: Path, log: BinaryIO, *arguments: str, on_line: Callable[[str], None] = lambda _: None
    ) -> None:
        code = logged([program("make"), "ARCH=um", *arguments], log, cwd=tree, on_line=on_line)
        if code:
            raise LonghaulError(Code.KERNEL_BUILD, f"make {arguments[-1]} ended with exit code {code}")

    def _with_kept_log(self, error: LonghaulError, log: Path, name: str) -> LonghaulError:
        """``error``, with what the log says; the log is kept."""
        kept = cache.cache_directory() / f"{name}.log"
        shutil.copyfile(log, kept)
        if error.remedy is not None:
            return error
        lines = kept.read_text(encoding="utf-8", errors="replace").splitlines()
        why = next((line.strip() for line in lines if re.search(r"\berror\b|\*\*\*", line)), "")
        return LonghaulError(
            error.code, f"{error.message}: {why}" if why else error.message, remedy=f"see {kept}", exit_code=3
        )


def _same(source_sha256: str, name: str | None) -> Kernel | None:
    """The kernel of this recipe and source, under ``name`` or that of its version."""
    for kernel in cache.kernels():
        wanted = name or kernel.release.removesuffix(SUFFIX)
        if kernel.name == wanted and kernel.source_sha256 == source_sha256 and not kernel.is_outdated:
            return kernel
    return None


def _install(result: Path, place: Path) -> None:
    """Make ``result`` the directory ``place``, instead of one that is there."""
    if place.exists():
        # Two renames: a run that starts between them finds no kernel, never half of one.
        old = result.with_name("replaced")
        place.rename(old)
    result.rename(place)
    (cache.cache_directory() / f"{place.name}.log").unlink(missing_ok=True)


def _require_space(place: Path) -> None:
    free = shutil.disk_usage(place).free
    if free < FREE_BYTES:
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"{place} has {free / 1e9:.1f} GB free, and a build needs {FREE_BYTES / 1e9:.1f} GB",
            remedy="make room, or set XDG_CACHE_HOME to a larger disk",
            exit_code=3,
        )


def _options_of(tree: Path) -> frozenset[str]:
    """All options of a source."""
    return frozenset(
        f"CONFIG_{name}"
        for path in tree.rglob("Kconfig*")
        if path.is_file()
        for name in _KCONFIG.findall(_text(path))
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
