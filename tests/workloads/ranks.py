"""Programs on several ranks of this machine."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MPIRUN = str(Path(sys.executable).parent / "mpirun")

ENVIRONMENT = {
    **os.environ,
    # Fewer cores than ranks: who waits lets others compute.
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_btl": "self,sm",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def on_ranks(
    ranks: int, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``mpirun -n RANKS python ARGUMENTS``."""
    return subprocess.run(
        [MPIRUN, "-n", str(ranks), sys.executable, *arguments],
        env={**ENVIRONMENT, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def workload(ranks: int, *arguments: str, environment: dict[str, str] | None = None) -> Any:
    """What a workload prints in JSON."""
    ended = on_ranks(ranks, "-m", "longhaul.workloads", *arguments, "--json", environment=environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def script(ranks: int, name: str, *arguments: str) -> Any:
    """What a script beside this file prints in JSON."""
    ended = on_ranks(ranks, str(Path(__file__).parent / name), *arguments)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)
