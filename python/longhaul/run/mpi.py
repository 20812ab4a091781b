"""Checks of the MPI launchers that a run is about to start."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

LAUNCHERS = frozenset(
    {
        "mpirun",
        "mpiexec",
        "mpiexec.hydra",
        "mpirun.openmpi",
        "mpirun.mpich",
        "mpiexec.openmpi",
        "mpiexec.mpich",
    }
)
INSTALL = "pip install 'longhaul[mpi]', or apt-get install openmpi-bin"
_OPEN_MPI = re.compile(r"\(Open\s?(?:MPI|RTE)\) ([\d.]+)")
_HYDRA = re.compile(r"^HYDRA build details:\s+Version:\s+([\d.]+)", re.MULTILINE)


def require(programs: Iterable[Mapping[str, Any]], *, path: str) -> None:
    """Raise LonghaulError if a program's launcher is missing or known to fail; ``path`` is their PATH."""
    for program in programs:
        name = program["argv"][0]
        if Path(name).name not in LAUNCHERS:
            continue
        if "/" in name and program["cwd"]:
            continue  # relative to a directory that we are not in
        found = shutil.which(name, path=program["env"].get("PATH", path))
        if found is None:
            raise LonghaulError(
                Code.NOT_INSTALLED,
                f"program {program['name']}: there is no {name}",
                remedy=INSTALL,
                exit_code=3,
            )
        if why := problem(version_text([found, "--version"])):
            raise LonghaulError(
                Code.NOT_INSTALLED, f"program {program['name']}: {found}: {why}", remedy=INSTALL, exit_code=3
            )


def version_text(command: Sequence[str]) -> str:
    """What a launcher says of itself; empty if it says nothing within ten seconds."""
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout


def problem(version: str) -> str | None:
    """Why a launcher that says ``version`` of itself is not to be used, if so."""
    hydra = _HYDRA.search(version)
    if hydra and hydra[1] == "4.0.2":
        return "MPICH 4.0.2 (Debian 12's) does not end when its ranks have ended"
    return None


def describe(version: str) -> tuple[str | None, str]:
    """The MPI of a launcher that says ``version`` of itself, and the name of its library."""
    if hydra := _HYDRA.search(version):
        return f"MPICH {hydra[1]}", "libmpi.so.12"
    if openmpi := _OPEN_MPI.search(version):
        return f"Open MPI {openmpi[1]}", "libmpi.so.40"
    return None, ""
