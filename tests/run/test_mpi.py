"""Launchers that are missing or known to fail are refused before a run begins."""

from pathlib import Path
from typing import Any

import pytest

from longhaul.errors import LonghaulError
from longhaul.run import mpi

DEBIANS_MPICH = "HYDRA build details:\n    Version:                                 4.0.2\n    CC: gcc\n"


def program(argv: list[str]) -> dict[str, Any]:
    return {"name": "solver", "argv": argv, "env": {}, "cwd": None}


def launcher(directory: Path, says: str) -> str:
    path = directory / "mpirun"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
    path.chmod(0o755)
    return str(directory)


def test_debians_mpich_is_refused_with_its_reason(tmp_path: Path) -> None:
    path = launcher(tmp_path, DEBIANS_MPICH) + ":/usr/bin:/bin"
    with pytest.raises(LonghaulError, match="does not end when its ranks have ended") as refused:
        mpi.require([program(["mpirun", "-n", "2", "a.out"])], path=path)
    assert "longhaul[mpi]" in str(refused.value.remedy)


def test_a_later_mpich_and_an_open_mpi_pass(tmp_path: Path) -> None:
    for says in (DEBIANS_MPICH.replace("4.0.2", "5.0.2"), "mpirun (Open MPI) 4.1.4"):
        mpi.require([program(["mpirun"])], path=launcher(tmp_path, says))


def test_a_launcher_that_is_missing_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="program solver: there is no mpiexec") as refused:
        mpi.require([program(["mpiexec"])], path=str(tmp_path))
    assert "openmpi-bin" in str(refused.value.remedy)


def test_programs_that_are_no_launchers_are_left_alone(tmp_path: Path) -> None:
    mpi.require([program(["nonsense"])], path=str(tmp_path))


def test_launchers_tell_which_mpi_they_are() -> None:
    assert mpi.describe("mpirun (Open MPI) 5.0.11\n") == ("Open MPI 5.0.11", "libmpi.so.40")
    assert mpi.describe("mpiexec (OpenRTE) 4.1.4\n") == ("Open MPI 4.1.4", "libmpi.so.40")
    assert mpi.describe(DEBIANS_MPICH) == ("MPICH 4.0.2", "libmpi.so.12")
    assert mpi.describe("Intel(R) MPI") == (None, "")
