"""One run of each simulator in a process of its own: what it delivered, and what it cost."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networks

HERE = Path(__file__).parent / "peers"
BUILT = Path(__file__).parents[1] / "target" / "peers"
REMEDY = "apt-get install ns2 libns3-dev g++"

NS3_PARTS = ("applications", "core", "internet", "network", "point-to-point", "traffic-control")


@dataclass(frozen=True)
class Run:
    """A process that has ended."""

    output: str
    cpu_s: float
    """User and system time, from its first instruction to its last."""
    peak_bytes: int


@dataclass(frozen=True)
class Ours:
    """A simulated run of ours."""

    run: Run
    ran_s: float
    """CPU time without starting Python and building the network."""
    memory: dict[str, int]
    """Resident bytes when ``empty``, ``built`` and ``ended``."""
    counted: dict[str, Any]

    @property
    def delivered(self) -> list[int]:
        """Bytes of payload, for each flow."""
        return [flow["bytes"] for flow in self.counted["flows"]]


def run(argv: list[str], text: str = "") -> Run:
    """Run a program to its end; what it uses is counted for it alone."""
    read, write = os.pipe()
    ended = subprocess.run(
        [sys.executable, "-I", "-S", str(HERE / "used.py"), str(write), *argv],
        input=text,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        pass_fds=(write,),
    )
    os.close(write)
    with open(read, encoding="ascii") as report:
        used = report.read().split()
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(argv)}: failed")
    return Run(ended.stdout, float(used[0]), int(used[1]))


def longhaul(plan: networks.Plan, *, scheduler: str = "automatic", directory: Path | None = None) -> Ours:
    """Ours; with a directory it records what the plan says."""
    argv = [
        sys.executable,
        str(HERE / "longhaul_run.py"),
        scheduler,
        *([str(directory)] if directory else []),
    ]
    ended = run(argv, json.dumps(plan))
    said = json.loads(ended.output)
    memory = {when: said[f"{when}_bytes"] for when in ("empty", "built", "ended")}
    return Ours(ended, said["ran_s"], memory, said["counted"])


def ns3(program: Path, what: networks.Chain) -> Run:
    """The chain in ns-3."""
    return run(
        [
            str(program),
            f"--flows={what.flows}",
            f"--seconds={what.seconds}",
            f"--every={what.every}",
            f"--ack-every={what.ack_every}",
            f"--payload={networks.PAYLOAD}",
            f"--window={networks.WINDOW}",
        ]
    )


def ns2(what: networks.Chain, *, tuned: bool) -> Run:
    """The chain in ns-2."""
    numbers = (what.flows, what.seconds, what.every, what.ack_every, networks.PAYLOAD, networks.WINDOW)
    return run(["ns", str(HERE / "chain.tcl"), *map(str, numbers), str(int(tuned))])


def find_ns2() -> bool:
    """Whether ns-2 is here; says what to do if not."""
    if shutil.which("ns"):
        return True
    print(f"ns-2 is left out: there is no program ns; {REMEDY}", file=sys.stderr)
    return False


def build_ns3() -> Path | None:
    """The chain's program, if a compiler and ns-3 are here; says what to do if not."""
    source, program = HERE / "chain.cc", BUILT / "chain"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    if not shutil.which("g++") or not Path("/usr/include/ns3").is_dir():
        print(f"ns-3 is left out: g++ or its headers are missing; {REMEDY}", file=sys.stderr)
        return None
    BUILT.mkdir(parents=True, exist_ok=True)
    libraries = [f"-lns3-{part}" for part in NS3_PARTS]
    command = ["g++", "-O3", "-std=c++17", str(source), "-o", str(program), *libraries]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(f"ns-3 is left out: it does not build; {REMEDY}\n{built.stderr[-1000:]}", file=sys.stderr)
        return None
    return program
