"""Installed programs that probe paths."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from longhaul.analysis.traces import Trace
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.subprocesses import find_program
from longhaul.traces.paths.lines import Output
from longhaul.traces.paths.outputs import read_output
from longhaul.traces.paths.prober import Pace


@dataclass(frozen=True)
class Program:
    """How one is called: from an address, the pace and the number of pings to its arguments."""

    arguments: Callable[[str, Pace, int], list[str]]
    seconds: Callable[[Pace, int], float]
    """How long it takes at most."""


def _version(address: str) -> str:
    return "-6" if ":" in address else "-4"


PROGRAMS = {
    "traceroute": Program(
        lambda address, pace, _pings: [
            _version(address), "-n", "-N", "4", "-q", str(min(10, pace.rounds)),
            "-w", f"{pace.wait_s:g}", "-m", str(pace.farthest), address,
        ],
        lambda pace, _pings: 10 + pace.farthest * pace.rounds * pace.wait_s / 4,
    ),
    "tracepath": Program(
        lambda address, pace, _pings: [_version(address), "-n", "-m", str(pace.farthest), address],
        lambda pace, _pings: 10 + 3 * pace.farthest,
    ),
    "mtr": Program(
        lambda address, pace, pings: [
            _version(address), "--json", "-n", "-c", str(pings or pace.rounds),
            "-m", str(pace.farthest), address,
        ],
        lambda pace, pings: 20 + 2.0 * (pings or pace.rounds),
    ),
    "ping": Program(
        lambda address, _pace, pings: [
            _version(address), "-n", "-i", "0.2", "-W", "2", "-c", str(pings), address,
        ],
        lambda _pace, pings: 10 + 2.0 * pings,
    ),
}  # fmt: skip


def installed(name: str) -> str | None:
    """Where a program is, also where only administrators look."""
    return find_program(name)


def run_program(name: str, address: str, *, source: str, target: str, pace: Pace, pings: int) -> list[Trace]:
    """What ``name`` finds on the way to ``address``; raises :class:`LonghaulError`."""
    where = installed(name)
    if where is None:
        remedy = "install it, or leave it out of --with"
        raise LonghaulError(Code.NOT_INSTALLED, f"{name} is not installed", remedy=remedy, exit_code=3)
    program = PROGRAMS[name]
    command = [where, *program.arguments(address, pace, pings)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=program.seconds(pace, pings),
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LonghaulError(
            Code.MEASUREMENT_FAILED, f"{name} to {target} does not end", remedy="leave it out of --with"
        ) from None
    if not done.stdout.strip():
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise LonghaulError(
            Code.MEASUREMENT_FAILED,
            f"{name} to {target} failed and said: {said}",
            remedy="leave it out of --with",
        )
    output = Output(f"{name} to {target}", tuple(done.stdout.splitlines()), source, target)
    return read_output(output)
