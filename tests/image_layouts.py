"""Folders of the OCI image layout, as tests make them: without a registry, and without podman."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Entry = tuple[str, str | bytes | None]
"""A file with its contents, a directory (``None``), or a symbolic link (text)."""


def layer(entries: Sequence[Entry]) -> bytes:
    room = io.BytesIO()
    with tarfile.open(fileobj=room, mode="w") as archive:
        for name, content in entries:
            member = tarfile.TarInfo(name)
            member.mode = 0o755
            if content is None:
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            elif isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return room.getvalue()


def blob(place: Path, content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    (place / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    (place / "blobs/sha256" / digest).write_bytes(content)
    return {"digest": f"sha256:{digest}", "size": len(content)}


def layout(
    place: Path, *layers: Sequence[Entry], config: dict[str, Any] | None = None, tag: str | None = None
) -> Path:
    """An image of these layers in a folder, which may have others."""
    described = [
        {
            **blob(place, gzip.compress(layer(each))),
            "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
        }
        for each in layers
    ]
    configuration = blob(place, json.dumps({"config": config or {}}).encode())
    manifest = blob(place, json.dumps({"config": configuration, "layers": described}).encode())
    if tag is not None:
        manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
    index = place / "index.json"
    before = json.loads(index.read_text())["manifests"] if index.is_file() else []
    index.write_text(json.dumps({"schemaVersion": 2, "manifests": [*before, manifest]}))
    return place
