"""Images in folders of the OCI image layout: read, checked, and unpacked into a cache.

A layout (image-layout.md and layer.md of the OCI image specification, version 1.1) has an index of
manifests, and blobs by their hash: a configuration, and layers as tar archives. ``skopeo copy docker://IMAGE
oci:DIR`` and ``podman save --format oci-dir`` write it.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError

_MOST_JSON = 16 << 20
"""Bytes of an index, a manifest or a configuration."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TAG = "org.opencontainers.image.ref.name"
_INDEX = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_MOST_LINKS = 40
"""Symbolic links on one path, as in Linux."""
Mode = Literal["r|", "r|gz"]
"""How :func:`tarfile.open` reads a layer."""
_MODES: Mapping[str, Mode] = {"tar": "r|", "tar+gzip": "r|gz", "tar.gzip": "r|gz"}


@dataclass(frozen=True)
class Layout:
    """An image of a layout, whose blobs are there."""

    place: Path
    digest: str
    """Of its manifest."""
    configuration: Mapping[str, Any]
    """``config`` of the image's configuration: ``Entrypoint``, ``Cmd``, ``Env``, ``WorkingDir``, ``User``."""
    layers: tuple[tuple[str, Mode], ...]
    """Hashes and kinds, the lowest layer first."""


def read(place: Path, tag: str | None) -> Layout:
    """The image with this ``tag``, or the only one. Raises LonghaulError."""
    index = _json(place, place / "index.json")
    manifests = [each for each in _list(place, index, "manifests") if isinstance(each, dict)]
    described = _chosen(place, manifests, tag)
    while described.get("mediaType") in _INDEX:
        described = _of_this_machine(place, _blob_json(place, described))
    manifest = _blob_json(place, described)
    configuration = _blob_json(place, manifest.get("config") or {})
    layers = tuple(_layer(place, each) for each in _list(place, manifest, "layers"))
    settings = configuration.get("config") or {}
    return Layout(place, str(described["digest"]), settings if isinstance(settings, dict) else {}, layers)


def unpacked(layout: Layout, cache: Path) -> Path:
    """The directory in ``cache`` with the files of ``layout``, written if need be. Raises LonghaulError."""
    target = cache / layout.digest.partition(":")[2]
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=cache))
        try:
            for digest, mode in layout.layers:
                with _verified(layout.place, digest) as blob:
                    _unpack(blob, mode, made)
            made.chmod(0o755)
            try:
                made.rename(target)
            except OSError:
                # Another run was faster.
                if not target.is_dir():
                    raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except (OSError, EOFError, tarfile.TarError) as error:
        raise _unusable(layout.place, f"a layer cannot be unpacked: {error}") from error
    return target


def file_in(layout: Layout, path: str) -> bytes | None:
    """The contents of a small file, by its path without a leading ``/``. Raises LonghaulError."""
    name = PurePosixPath(path)
    for digest, mode in reversed(layout.layers):
        hidden = False
        try:
            with (
                _blob(layout.place, digest).open("rb") as blob,
                tarfile.open(fileobj=blob, mode=mode) as archive,
            ):
                for member in archive:
                    entry = PurePosixPath(member.name.lstrip("/"))
                    if (
                        entry == name
                        and member.isreg()
                        and (found := archive.extractfile(member)) is not None
                    ):
                        return bytes(found.read(_MOST_JSON))
                    whiteouts = (name.with_name(_WHITEOUT + name.name), name.with_name(_OPAQUE))
                    hidden = hidden or entry in whiteouts
        except (OSError, EOFError, tarfile.TarError) as error:
            raise _unusable(layout.place, f"a layer cannot be read: {error}") from error
        if hidden:
            return None
    return None


def _chosen(place: Path, manifests: list[dict[str, Any]], tag: str | None) -> dict[str, Any]:
    tags = {str((each.get("annotations") or {}).get(_TAG)): each for each in manifests}
    if tag is not None:
        if tag in tags:
            return tags[tag]
        listed = ", ".join(printable(each) for each in tags if each != "None") or "none"
        raise _unusable(
            place, f'there is no image "{printable(tag)}"', f"the tags in its index.json: {listed}"
        )
    if len(manifests) == 1:
        return manifests[0]
    listed = ", ".join(printable(each) for each in tags)
    raise _unusable(place, f"it has {len(manifests)} images", f"write oci:DIR:TAG with one of {listed}")


def _of_this_machine(place: Path, index: Mapping[str, Any]) -> dict[str, Any]:
    machine = platform.machine()
    wanted = _ARCHITECTURES.get(machine, machine)
    for each in _list(place, index, "manifests"):
        system = each.get("platform") or {}
        if system.get("architecture") == wanted and system.get("os", "linux") == "linux":
            found: dict[str, Any] = each
            return found
    raise _unusable(place, f"it has no image for {wanted}", "fetch that of this machine's architecture")


def _layer(place: Path, described: Any) -> tuple[str, Mode]:
    kind = str(described.get("mediaType", "")).rpartition(".layer.v1.")[2] or "tar"
    kind = kind.rpartition("rootfs.diff.")[2]
    digest = _digest(place, described)
    if kind not in _MODES:
        remedy = "write it anew without: skopeo copy --dest-compress-format gzip oci:DIR oci:OTHER"
        raise _unusable(place, f"a layer is compressed in another way than gzip ({printable(kind)})", remedy)
    if not _blob(place, digest).is_file():
        raise _unusable(place, f"the layer {digest} is missing")
    return digest, _MODES[kind]


def _list(place: Path, document: Mapping[str, Any], key: str) -> list[Any]:
    found = document.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
        raise _unusable(place, f'its "{key}" are not a list')
    return found


def _digest(place: Path, described: Mapping[str, Any]) -> str:
    digest = str(described.get("digest"))
    if not _DIGEST.fullmatch(digest):
        raise _unusable(place, f'"{printable(digest)}" is not a hash of SHA-256')
    return digest


def _blob(place: Path, digest: str) -> Path:
    return place / "blobs" / "sha256" / digest.partition(":")[2]


def _blob_json(place: Path, described: Mapping[str, Any]) -> dict[str, Any]:
    digest = _digest(place, described)
    path = _blob(place, digest)
    found = _json(place, path)
    if f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" != digest:
        raise _unusable(place, f"{path.name} has other contents than its name says")
    return found


def _json(place: Path, path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_JSON:
            raise _unusable(place, f"{path.name} is too large")
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise _unusable(place, f"{path.name}: {str(error.strerror).lower()}") from error
    except ValueError as error:
        raise _unusable(place, f"{path.name} is not JSON") from error
    if not isinstance(found, dict):
        raise _unusable(place, f"{path.name} is not an object of JSON")
    return found


@contextmanager
def _verified(place: Path, digest: str) -> Iterator[IO[bytes]]:
    """A blob whose contents have this hash."""
    with _blob(place, digest).open("rb") as blob:
        if f"sha256:{hashlib.file_digest(blob, 'sha256').hexdigest()}" != digest:
            raise _unusable(place, f"the layer {digest} has other contents than its name says")
        blob.seek(0)
        yield blob


def _unpack(blob: IO[bytes], mode: Mode, root: Path) -> None:
    """Put a layer over what is in ``root``: new files, and removals of old ones."""
    own: set[Path] = set()
    is_root = os.geteuid() == 0
    with tarfile.open(fileobj=blob, mode=mode) as archive:
        for member in archive:
            path = _inside(root, member.name)
            if path == root:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.name == _OPAQUE:
                for each in [each for each in path.parent.iterdir() if each not in own]:
                    _remove(each)
                continue
            if path.name.startswith(_WHITEOUT):
                _remove(path.with_name(path.name.removeprefix(_WHITEOUT)))
                continue
            if member.isdev() or member.isfifo():
                # Hosts have the run's /dev.
                continue
            if path.is_symlink() or (path.exists() and not (member.isdir() and path.is_dir())):
                _remove(path)
            own.update((path, *path.parents))
            member.name = str(path.relative_to(root))
            if member.islnk():
                member.linkname = str(_inside(root, member.linkname).relative_to(root))
            if not is_root:
                member.mode |= stat.S_IRUSR | stat.S_IWUSR | (stat.S_IXUSR if member.isdir() else 0)
            archive.extract(member, root, numeric_owner=True, filter="fully_trusted")


def _inside(root: Path, name: str) -> Path:
    """Where an entry of an archive is below ``root``, which no symbolic link of the image leads out of."""
    steps = [step for step in name.split("/") if step not in ("", ".")][::-1]
    path, links = root, 0
    while steps:
        step = steps.pop()
        if step == "..":
            path = path.parent if path != root else root
            continue
        path /= step
        if steps and path.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise tarfile.TarError(f"{name} has too many symbolic links")
            target = os.readlink(path)
            steps += [each for each in target.split("/") if each not in ("", ".")][::-1]
            path = root if target.startswith("/") else path.parent
    return path


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _unusable(place: Path, what: str, remedy: str | None = None) -> LonghaulError:
    remedy = remedy or "write it anew, for example: skopeo copy docker://IMAGE oci:DIR"
    return LonghaulError(Code.HOST_SETTINGS_UNAVAILABLE, f"the OCI layout {place}: {what}", remedy=remedy)
