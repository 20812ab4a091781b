"""Starts a guest on the virtual clock without a network: its time moves by itself (``inf-cpu``)."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from longhaul.kernels.cache import Kernel

PROGRAM = Path(__file__).with_name("guest.py")
LIMIT_S = 60


def start(
    kernel: Kernel,
    place: Path,
    *measurements: str,
    parameters: str = "",
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.Popen[bytes]:
    """Start a guest that makes ``measurements`` of ``guest.py``; its files are in ``place``."""
    place.mkdir(exist_ok=True)
    init = place / "init"
    init.write_text(
        "#!/bin/sh\n"
        "mount -t proc proc /proc; mount -t tmpfs tmp /run\n"
        "export TMPDIR=/run PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0\n"
        + "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
        + f"exec {shlex.quote(sys.executable)} -I {shlex.quote(str(PROGRAM))} {' '.join(measurements)}\n"
    )
    init.chmod(0o755)
    command = [
        # On one processor, as in a run.
        *("taskset", "-c", str(max(os.sched_getaffinity(0)))),
        str(kernel.binary),
        "mem=128M",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={init}",
        "time-travel=inf-cpu",
        "con=null",
        "con0=null,fd:1",
        "quiet",
        "loglevel=3",
        f"uml_dir={place}",
        *parameters.split(),
    ]
    own = {"PATH": os.defpath, "HOME": str(place), "TMPDIR": "/dev/shm"}
    return subprocess.Popen(
        command, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    )


def measure(
    kernel: Kernel,
    place: Path,
    *measurements: str,
    parameters: str = "",
    environment: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The results of a guest, by measurement."""
    with start(kernel, place, *measurements, parameters=parameters, environment=environment) as guest:
        try:
            output, _ = guest.communicate(timeout=LIMIT_S)
        except BaseException:
            guest.kill()
            raise
    found: dict[str, Any] = {}
    lines = output.decode(errors="replace").splitlines()
    for line in lines:
        if line.startswith("{"):
            found |= json.loads(line)
    assert set(found) == set(measurements), lines
    return found
