"""Programs of studies on the virtual clock: what they say, and kernels of the NAS parallel benchmarks."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import longhaul
from longhaul.studies import Study

RANKS = Path(__file__).with_name("ranks.py")
LONGEST_S = 3600
"""Of virtual time: ranks that wait for each other would wait forever."""


def run(
    study: Study,
    path: Path,
    command: str,
    hosts: str,
    *,
    params: Mapping[str, str],
    speed: float | None = None,
) -> Path:
    """Add a command on the first of the hosts to the scenario, and run it; returns the directory of its logs.

    ``speed``: of the processors, as a multiple of this machine's; ``None`` if computing takes no time.
    """
    # A message ends when its last segment arrives, whether segments are joined or not.
    more = "coalesce: 200us\n" + ("" if speed is None else f"cpu: {{speed: {speed}}}\n")
    argv = json.dumps(["timeout", str(LONGEST_S), "sh", "-ec", command])
    program = f"programs:\n  app: {{run: {argv}, hosts: {hosts}}}\n"
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{more}{program}", encoding="utf-8")
    result = longhaul.run_live(path, params=params, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    return result.directory / "logs"


def ranks_command(ranks: int, kernels: Sequence[str]) -> str:
    """Starts so many ranks of kernels, each ``NAME:CLASS`` or ``NAME:CLASS=SECONDS``."""
    return f"mpirun -n {ranks} '{sys.executable}' '{RANKS}' {' '.join(kernels)}"


def read_kernels(logs: Path, count: int) -> dict[str, dict[str, Any]]:
    """What each kernel found, by name. Raises RuntimeError if one failed, or its result is wrong."""
    lines = (logs / "app.out").read_text(encoding="utf-8").splitlines()
    found = {each["workload"]: each for each in map(json.loads, (x for x in lines if x.startswith("{")))}
    if len(found) != count or any(each["verified"] is False for each in found.values()):
        raise RuntimeError(f"a kernel failed, or its result is wrong: see {logs}")
    return found
