"""Images of podman's store: the directories of their layers, which overlayfs can merge without podman."""

import json
import subprocess
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.subprocesses import program

_TIMEOUT_S = 30.0


def layers(image: str) -> list[str]:
    """The directories of an image's layers, the topmost first. Raises LonghaulError.

    Podman is asked for its store alone: nothing is pulled, mounted or started.
    """
    command = [program("podman"), "image", "inspect", image]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unavailable(f"podman does not answer: {error}", "try: podman images") from error
    if done.returncode != 0:
        remedy = f"podman images lists those that there are; podman pull {image} fetches it"
        raise _unavailable(f"there is no image {image} in podman's store", remedy)
    try:
        driver = json.loads(done.stdout)[0]["GraphDriver"]
        data = driver["Data"] or {}
        found = [data["UpperDir"], *data.get("LowerDir", "").split(":")]
    except (ValueError, KeyError, IndexError):
        found = []
    found = [each for each in found if each]
    if not found or not all(Path(each).is_dir() for each in found):
        remedy = f"unpack it, and write rootfs: podman export $(podman create {image}) | tar -x -C DIR"
        raise _unavailable(f"the layers of {image} are not directories that this user can read", remedy)
    return found


def _unavailable(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.HOST_SETTINGS_UNAVAILABLE, message, remedy=remedy)
