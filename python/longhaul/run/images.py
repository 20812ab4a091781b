"""Images that hosts have as their roots: in podman's store, or in a folder of the OCI image layout.

The layers of podman's store are directories, which overlayfs can merge without podman. Those of a layout are
archives, and unpacked into one directory of the user's cache.
"""

import json
import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run import oci_layouts
from longhaul.subprocesses import program

LAYOUT = "oci:"
"""What the name of a folder begins with: ``oci:DIR`` or ``oci:DIR:TAG``."""
_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Configuration:
    """What an image says about its programs."""

    command: tuple[str, ...] = ()
    """Entry point and its default arguments."""
    entrypoint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    working_directory: str | None = None
    user: str | None = None
    """A name or a number."""

    @staticmethod
    def of(config: Mapping[str, Any]) -> "Configuration":
        """Of the ``config`` of an image, as docker, podman and OCI write it."""
        entrypoint = tuple(str(each) for each in config.get("Entrypoint") or ())
        variables = (str(each).partition("=") for each in config.get("Env") or ())
        return Configuration(
            command=(*entrypoint, *(str(each) for each in config.get("Cmd") or ())),
            entrypoint=entrypoint,
            environment={name: value for name, _, value in variables if name},
            working_directory=config.get("WorkingDir") or None,
            user=str(config.get("User") or "").partition(":")[0] or None,
        )


@dataclass(frozen=True)
class Image:
    """An image that is there."""

    configuration: Configuration
    _layers: tuple[str, ...] = ()
    _layout: oci_layouts.Layout | None = None

    def directories(self) -> list[str]:
        """The directories that overlayfs merges, the topmost first. Raises LonghaulError.

        Those of a layout are unpacked if they are not yet.
        """
        if self._layout is None:
            return list(self._layers)
        return [str(oci_layouts.unpacked(self._layout, cache_directory()))]

    def file(self, path: str) -> bytes | None:
        """The contents of a small file of the image. Raises LonghaulError."""
        if self._layout is not None:
            return oci_layouts.file_in(self._layout, path)
        for layer in self._layers:
            place = Path(layer) / path
            try:
                kind = place.lstat().st_mode
            except OSError:
                continue
            # A device marks what an upper layer removes.
            return place.read_bytes() if stat.S_ISREG(kind) else None
        return None


def cache_directory() -> Path:
    """Where images of layouts are unpacked, by the hash of their manifest."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "longhaul" / "images"


def find(name: str, folder: Path) -> Image:
    """The image that a scenario in ``folder`` calls ``name``. Raises LonghaulError.

    Podman is asked for its store alone: nothing is pulled, mounted or started.
    """
    if name.startswith(LAYOUT):
        layout = oci_layouts.read(*_place(name.removeprefix(LAYOUT), folder))
        return Image(Configuration.of(layout.configuration), _layout=layout)
    told = _inspected(name)
    return Image(Configuration.of(told.get("Config") or {}), tuple(_layers(name, told)))


def _place(written: str, folder: Path) -> tuple[Path, str | None]:
    whole = folder / written
    before, colon, tag = written.rpartition(":")
    return (whole, None) if whole.is_dir() or not colon else (folder / before, tag)


def _inspected(image: str) -> Mapping[str, Any]:
    command = [program("podman"), "image", "inspect", image]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unavailable(f"podman does not answer: {error}", "try: podman images") from error
    if done.returncode != 0:
        remedy = f"podman images lists those that there are; podman pull {image} fetches it"
        raise _unavailable(f"there is no image {image} in podman's store", remedy)
    try:
        found: Mapping[str, Any] = json.loads(done.stdout)[0]
    except (ValueError, IndexError) as error:
        raise _unavailable(f"podman's answer about {image} is not JSON", "try: podman images") from error
    return found


def _layers(image: str, told: Mapping[str, Any]) -> list[str]:
    """The directories of an image's layers, the topmost first."""
    try:
        data = told["GraphDriver"]["Data"] or {}
        found = [data["UpperDir"], *data.get("LowerDir", "").split(":")]
    except KeyError:
        found = []
    found = [each for each in found if each]
    if not found or not all(Path(each).is_dir() for each in found):
        remedy = f"unpack it, and write rootfs: podman export $(podman create {image}) | tar -x -C DIR"
        raise _unavailable(f"the layers of {image} are not directories that this user can read", remedy)
    return found


def _unavailable(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.HOST_SETTINGS_UNAVAILABLE, message, remedy=remedy)
