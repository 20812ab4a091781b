"""Whether MPI's messages between hosts cross the network: an alltoall against the bytes of the link."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from longhaul.calibrate import plans
from longhaul.calibrate.probe import Measured, measure
from longhaul.errors import LonghaulError
from longhaul.plan import WAYS
from longhaul.run import mpi
from longhaul.subprocesses import python_code_command, trusted_path

BLOCK = 32 << 20
"""Bytes that each of two ranks sends to the other; starting takes under 0.5 % of that."""
HEADERS = 52
"""Bytes of each packet that are not payload, acknowledgements included: IPv4 20, TCP 20, time stamps 12."""
TOLERANCE = 0.02
WITHIN_S = 60

ALLTOALL = """
import sys
from mpi4py import MPI
world, block = MPI.COMM_WORLD, int(sys.argv[1])
sent = bytearray(block * world.size)
received = bytearray(block * world.size)
world.Alltoall([sent, block, MPI.BYTE], [received, block, MPI.BYTE])
"""


@dataclass(frozen=True)
class Installed:
    """An MPI of this machine."""

    name: str
    """``Open MPI 5.0.11`` or ``MPICH 5.0.2``."""
    launcher: Path
    library: Path | None
    """What mpi4py must load to match the launcher."""
    problem: str | None


def installed() -> list[Installed]:
    """The MPIs whose launchers are found in the trusted part of PATH, each once."""
    found: dict[tuple[str, Path], Installed] = {}
    for directory in trusted_path().split(os.pathsep):
        for name in sorted(mpi.LAUNCHERS):
            launcher = shutil.which(name, path=directory)
            if launcher is None:
                continue
            version = mpi.version_text([launcher, "--version"])
            called, soname = mpi.describe(version)
            if called is not None:
                path = Path(launcher)
                this = Installed(called, path, _library(path, soname), mpi.problem(version))
                found.setdefault((called, path.resolve().parent), this)
    return list(found.values())


def _library(launcher: Path, soname: str) -> Path | None:
    root = launcher.parent.parent
    return next(iter([*root.glob(f"lib/{soname}"), *root.glob(f"lib/*-linux-gnu/{soname}")]), None)


def plan_alltoall(each: Installed, *, block: int = BLOCK) -> plans.Plan:
    """Two ranks on two hosts that send each other one block, 1 ms apart."""
    command = [str(each.launcher), "-n", "2", *python_code_command(ALLTOALL, str(block))]
    program: dict[str, Any] = plans.program("mpi", 0, command, stop_ns=WITHIN_S * 10**9)
    program["env"] = {"MPI4PY_LIBMPI": str(each.library)} if each.library else {}
    program["span"] = {"hosts": [0, 1], "slots": 1, "ranks": "by-cluster"}
    plan = plans.pair(delay_ns=1_000_000, programs=[program], name="mpi")
    for node in plan["nodes"]:
        node["ipv6"] = None  # so that headers are known: Open MPI prefers IPv6, MPICH does not
    return plan


def carried(run: Measured) -> tuple[int, int]:
    """Bytes of TCP payload that the link delivered, each way."""
    link = run.engine["links"][0]
    forward, reverse = (
        link[way]["delivered_bytes"] - HEADERS * link[way]["delivered_packets"] for way in WAYS
    )
    return forward, reverse


def accounts_for(payload: int, *, block: int = BLOCK) -> bool:
    """Whether what a link carried is one block, no less and no more."""
    return abs(payload / block - 1) <= TOLERANCE


@dataclass(frozen=True)
class Outcome:
    """What testing one MPI gave."""

    name: str
    works: bool
    bypassed: bool
    """It ran, but the link did not carry what the ranks exchanged."""
    detail: str
    remedy: str | None = None


def examine() -> Iterator[Outcome]:
    """Test every MPI of this machine, some seconds each."""
    for each in installed():
        if each.problem:
            yield Outcome(each.name, False, False, each.problem, mpi.INSTALL)
        elif find_spec("mpi4py") is None:
            yield Outcome(each.name, False, False, "not tested: mpi4py is missing", "pip install mpi4py")
        else:
            yield _test(each)


def _test(each: Installed) -> Outcome:
    try:
        run = measure(plan_alltoall(each))
    except LonghaulError as error:
        return Outcome(each.name, False, False, error.message, error.remedy)
    program = run.programs[0]
    if program["exit"] != 0:
        said = program["error"] or (
            f"signal {program['signal']}" if program["signal"] else f"exit {program['exit']}"
        )
        remedy = f"see what it says: longhaul shell -- {each.launcher} -n 2 hostname"
        return Outcome(each.name, False, False, f"{each.launcher} failed: {said}", remedy)
    shares = " and ".join(f"{way / BLOCK:.1%}" for way in carried(run))
    detail = f"of an alltoall of 32 MiB each way, the link carried {shares}"
    if all(accounts_for(way) for way in carried(run)):
        return Outcome(each.name, True, False, detail)
    remedy = f"its messages use another path; look at its configuration files and settings: {_settings()}"
    return Outcome(each.name, False, True, detail, remedy)


def _settings() -> str:
    prefixes = ("OMPI_", "PRTE_", "PMIX_", "MPIR_", "MPICH_", "HYDRA_", "UCX_", "FI_")
    return (
        ", ".join(sorted(name for name in os.environ if name.startswith(prefixes))) or "nothing in this shell"
    )
