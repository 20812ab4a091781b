"""Programs of studies on the virtual clock, and kernels of the NAS parallel benchmarks among them."""

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
    study: Study, name: str, text: str, command: str, hosts: str, *, slots: int = 1, **params: str
) -> Path:
    """Run a command on the first of the hosts of a scenario; returns the directory of its logs.

    Segments are joined: a message ends when its last one arrives, whether they are joined or not.
    """
    argv = json.dumps(["timeout", str(LONGEST_S), "sh", "-ec", command])
    program = f"programs:\n  app: {{run: {argv}, hosts: {hosts}, slots: {slots}}}\n"
    path = study.runs / f"{name}.yaml"
    path.write_text(f"{text}\ncoalesce: 200us\n{program}", encoding="utf-8")
    result = longhaul.run_live(path, params=params, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    return result.directory / "logs"


def ranks_command(ranks: int, kernels: Sequence[str]) -> str:
    """Starts so many ranks of kernels, each ``NAME:CLASS`` or ``NAME:CLASS=SECONDS``."""
    return f"mpirun -n {ranks} '{sys.executable}' '{RANKS}' {' '.join(kernels)}"


def read_kernels(logs: Path, names: Sequence[str]) -> Mapping[str, dict[str, Any]]:
    """What each kernel printed, by name. Raises RuntimeError if one failed, or its result is wrong."""
    lines = (logs / "app.out").read_text(encoding="utf-8").splitlines()
    found = {each["workload"]: each for each in map(json.loads, lines)}
    if list(found) != list(names) or any(each["verified"] is False for each in found.values()):
        raise RuntimeError(f"a kernel failed, or its result is wrong: see {logs}")
    return found
