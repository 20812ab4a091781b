"""Archives of artifacts as a reviewer has them: unpacked, and repeated by their script."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path


def unpack(archive: Path, place: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")
    return place / archive.name.removesuffix(".tar.gz")


def run_script(artifact: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`./reproduce`, with Longhaul on the PATH, from elsewhere."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [artifact / "reproduce", *arguments],
        cwd="/",
        env={"PATH": path, "HOME": str(artifact), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_checksums(artifact: Path) -> None:
    """What `sha256sum` says of the files."""
    files = [
        path
        for path in artifact.rglob("*")
        if path.is_file() and path.name != "manifest.sha256" and "reproduction" not in path.parts
    ]
    names = [str(path.relative_to(artifact)) for path in files]
    sums = subprocess.run(
        ["sha256sum", *names], cwd=artifact, capture_output=True, text=True, check=True
    ).stdout
    (artifact / "manifest.sha256").write_text(sums, encoding="utf-8")
