"""Images that hosts have as their roots: of podman's or docker's store, or folders of the OCI image layout.

The layers of a store are directories, which overlayfs can merge without podman or docker. Those of a layout
are archives, and unpacked into one directory of the user's cache. Names are those of
containers-transports(5); without a transport they are podman's.
"""

import json
import os
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results.host_files import extract
from longhaul.run import oci_layouts
from longhaul.subprocesses import program

LAYOUT = "oci:"
"""What the name of a folder begins with: ``oci:DIR`` or ``oci:DIR:TAG``."""
DAEMON = "docker-daemon:"
"""What the name of an image in docker's store begins with."""
_ABSENT = ("no such image", "image not known")
"""How docker and podman report that a store lacks an image."""
_TIMEOUT_S = 30.0
_SAVE_S = 600.0
_OWN_LAYOUT = "write it into a folder, and name that: skopeo copy docker-daemon:NAME oci:DIR, image: oci:DIR"


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
    _stored: tuple[str, str, str] | None = None
    """The store that has it, ``podman`` or ``docker``, its name there, and its ID."""

    def directories(self, *, merged: bool = False) -> list[str]:
        """The directories that overlayfs merges, the topmost first. Raises LonghaulError.

        Those of a layout are unpacked if they are not yet. With ``merged`` it is one directory, also of an
        image in a store, for a file system that does not show what marks removed files.
        """
        if self._layout is None and (not merged or len(self._layers) == 1):
            return list(self._layers)
        if self._layout is not None:
            return [str(oci_layouts.unpacked(self._layout, cache_directory()))]
        assert self._stored is not None
        return [_merged(*self._stored)]

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

    Podman and docker are asked for their stores alone: nothing is pulled, mounted or started.
    """
    if name.startswith(LAYOUT):
        layout = oci_layouts.read(*_place(name.removeprefix(LAYOUT), folder))
        return Image(Configuration.of(layout.configuration), _layout=layout)
    engine = "docker" if name.startswith(DAEMON) else "podman"
    name = name.removeprefix(DAEMON)
    details = _inspected(engine, name)
    layers = tuple(_layers(engine, name, details))
    stored = engine, name, str(details.get("Id"))
    return Image(Configuration.of(details.get("Config") or {}), layers, _stored=stored)


def _place(written: str, folder: Path) -> tuple[Path, str | None]:
    whole = folder / written
    before, colon, tag = written.rpartition(":")
    return (whole, None) if whole.is_dir() or not colon else (folder / before, tag)


def _inspected(engine: str, image: str) -> Mapping[str, Any]:
    """The details that ``podman`` or ``docker`` has of an image in its store."""
    command = [program(engine), "image", "inspect", image]
    listing = f"list images with: {engine} images"
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unavailable(f"{engine} does not answer: {error}", listing) from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [""])[-1]
        if not any(words in reason.lower() for words in _ABSENT):
            raise _unavailable(f"{engine} cannot inspect {image}: {reason}", listing)
        raise _unavailable(f"{engine}'s store has no image {image}", f"{listing}; or: {engine} pull {image}")
    try:
        found: Mapping[str, Any] = json.loads(done.stdout)[0]
    except (ValueError, IndexError) as error:
        raise _unavailable(f"{engine}'s answer about {image} is not JSON", listing) from error
    return found


def _layers(engine: str, image: str, details: Mapping[str, Any]) -> list[str]:
    """The directories of an image's layers, the topmost first."""
    try:
        data = details["GraphDriver"]["Data"] or {}
        found = [data["UpperDir"], *data.get("LowerDir", "").split(":")]
    except (KeyError, TypeError):
        found = []
    found = [each for each in found if each]
    if not found or not all(Path(each).is_dir() for each in found):
        unpack = f"{engine} export $({engine} create {image}) | tar -x -C DIR"
        # Since version 25 docker saves images in the OCI layout.
        save = f"docker image save {image} | tar -x -C DIR, and image: oci:DIR, or "
        remedy = f"{save if engine == 'docker' else ''}unpack it, and write rootfs: {unpack}"
        raise _unavailable(f"the layers of {image} are not directories that this user can read", remedy)
    return found


def _merged(engine: str, name: str, identity: str) -> str:
    """The one directory with the files of an image in a store, which is saved to a layout if need be."""
    known = cache_directory() / f"{engine}-{identity.rpartition(':')[2]}"
    if known.is_dir():
        return str(known.resolve())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "layout"
        archive = Path(place) / "image.tar"
        if engine == "podman":
            command = ["podman", "image", "save", "--quiet", "--format", "oci-dir", "-o", str(folder), name]
        else:
            command = ["docker", "image", "save", "-o", str(archive), name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SAVE_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _unavailable(f"{engine} cannot save {name}: {error}", _OWN_LAYOUT) from error
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise _unavailable(f"{engine} cannot save {name}: {reason}", _OWN_LAYOUT)
        if archive.is_file():
            folder.mkdir()
            try:
                with archive.open("rb") as saved:
                    extract(saved, folder)
            except ValueError as error:
                raise _unavailable(f"what {engine} saves of {name} is {error}", _OWN_LAYOUT) from error
            if not (folder / "index.json").is_file():
                raise _unavailable(f"this docker does not save {name} in the OCI layout", _OWN_LAYOUT)
        made = oci_layouts.unpacked(oci_layouts.read(folder, None), cache_directory())
    storage.replace_link(known, made.name)
    return str(made)


def _unavailable(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.HOST_SETTINGS_UNAVAILABLE, message, remedy=remedy)
