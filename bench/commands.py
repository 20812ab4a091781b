"""What a user waits for around the simulation: commands, results, reports and their memory.

Each figure is that of a whole process, from its first instruction to its last, as a user starts it, with
bytecode that an earlier command left. Commands take turns; a figure is the median of its rounds. The overhead
of a simulated run is the CPU time of the process without that of the simulation, which the run's own summary
states. Networks are stars of 2 to 40 sites with access links of 1 Gbit/s, a TCP flow for every ten links, and
0.7 simulated seconds.

Writes ``bench/commands.json`` and prints one line for each figure with its target.
"""

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from figures import Row, measure_all, row

COMMAND = str(Path(sys.executable).with_name("longhaul"))
LIBRARIES = ("click", "pydantic", "yaml", "numpy", "pyarrow.csv, pyarrow.parquet", "rich.progress", "jinja2")
"""What a simulation with its report imports, each in an interpreter of its own."""
SIZES = {10: (2, 4), 100: (4, 24), 500: (20, 24), 5_000: (40, 124)}
"""Links of a star: its sites, and the hosts of each."""
MOST_WALL_S = {"longhaul --help": 0.1, "check of the template": 0.2, "sim of the template": 0.5}
MOST_MB = 200

STAR = """\
version: 1
name: star
duration: 0.7s
profiles:
  access: {{rate: 1Gbit, delay: 50us, queue: 256KiB}}
  core: {{rate: 10Gbit, delay: 2ms, queue: 1MiB}}
topology: {{kind: star, sites: {sites}, hosts: {hosts}, access: access, wan: core}}
traffic:
{traffic}
"""
SIX_FLOWS = """\
version: 1
name: six
duration: 1000s
profiles: {lan: {delay: 15us, rate: 1Gbit, mtu: 9000}}
nodes:
  a: {kind: router}
  b: {kind: router}
  a1..6: {kind: host, attach: a, profile: lan}
  b1..6: {kind: host, attach: b, profile: lan}
links: {a-b: {endpoints: [a, b], rate: 10Gbit, delay: 30ms, mtu: 9000}}
traffic:
  one: {kind: tcp, from: a1, to: b1}
  two: {kind: tcp, from: a2, to: b2}
  three: {kind: tcp, from: a3, to: b3}
  four: {kind: tcp, from: a4, to: b4}
  five: {kind: tcp, from: a5, to: b5}
  six: {kind: tcp, from: a6, to: b6}
"""


@dataclass(frozen=True)
class Used:
    """What a process took."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def used(*arguments: str, program: str = COMMAND) -> Used:
    """Run ``longhaul``, or another program, with these arguments to its end, in the current directory."""
    null = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)
    # Bytecode is written, as for users.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began_s = time.monotonic()
    process = os.posix_spawn(program, (program, *arguments), environment, file_actions=null)
    _, status, resources = os.wait4(process, 0)
    wall_s = time.monotonic() - began_s
    if status != 0:
        raise SystemExit(f"{program} {' '.join(arguments)}: exit code {os.waitstatus_to_exitcode(status)}")
    return Used(wall_s, resources.ru_utime + resources.ru_stime, resources.ru_maxrss * 1024)


@contextmanager
def folder() -> Iterator[Path]:
    """A working directory for runs, removed afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def commands(rounds: int) -> list[Row]:
    """The first commands of a new user."""
    lines = {
        "longhaul --help": ("--help",),
        "check of the template": ("check", "atlantic.yaml"),
        "sim of the template": ("sim", "atlantic.yaml"),
        "sim of the template, without report": ("sim", "atlantic.yaml", "--no-report"),
    }
    found: dict[str, list[Used]] = defaultdict(list)
    with folder():
        used("new", "atlantic")
        for line in lines.values():
            used(*line)
        for _ in range(rounds):
            for name, line in lines.items():
                found[name].append(used(*line))
    rows = []
    for name, many in found.items():
        wall_s, most = median(each.wall_s for each in many), MOST_WALL_S.get(name)
        rows.append(row(name, wall_s, "s", f"at most {most}" if most else "", most is None or wall_s <= most))
        rows.append(row("  CPU time", median(each.cpu_s for each in many), "s", "", True))
    return rows


def imports(rounds: int) -> list[Row]:
    """What the libraries alone take, beyond the start of an interpreter: the floor of every command."""
    lines = {
        "an interpreter": "pass",
        **{f"import of {each}": f"import {each}" for each in LIBRARIES},
        "import of all these libraries": f"import {', '.join(LIBRARIES)}",
    }
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(max(rounds, 5)):
        for name, line in lines.items():
            found[name].append(used("-P", "-c", line, program=sys.executable).cpu_s)
    start_s = median(found.pop("an interpreter"))
    rows = [row("an interpreter", start_s, "CPU s", "", True)]
    return rows + [row(name, median(many) - start_s, "CPU s", "", True) for name, many in found.items()]


def star(links: int) -> str:
    """A scenario with so many links."""
    sites, hosts = SIZES[links]
    names = [f"r{site}-h{host}" for site in range(1, sites + 1) for host in range(1, hosts + 1)]
    random = Random(links)
    pairs = (random.sample(names, 2) for _ in range(max(2, links // 10)))
    traffic = "\n".join(
        f"  f{place}: {{kind: tcp, from: {a}, to: {b}}}" for place, (a, b) in enumerate(pairs)
    )
    return STAR.format(sites=sites, hosts=hosts, traffic=traffic)


def overhead(rounds: int) -> list[Row]:
    """What results cost beyond the simulation, without the report."""
    return _overhead(rounds, "overhead", "--no-report")


def reports(rounds: int) -> list[Row]:
    """The same with the report."""
    return _overhead(rounds, "overhead with report")


def _overhead(rounds: int, what: str, *options: str) -> list[Row]:
    simulated: dict[int, list[float]] = defaultdict(list)
    beyond: dict[int, list[float]] = defaultdict(list)
    with folder() as here:
        for links in SIZES:
            (here / f"{links}.yaml").write_text(star(links), encoding="utf-8")
        for _ in range(rounds):
            for links in SIZES:
                whole = used("sim", f"{links}.yaml", "--runs", f"runs-{links}", *options)
                summary = json.loads((here / f"runs-{links}/star/latest/summary.json").read_text("utf-8"))
                simulated[links].append(summary["simulation"]["cpu_s"])
                beyond[links].append(whole.cpu_s - simulated[links][-1])
    rows = []
    for links in SIZES:
        simulation_s, more_s = median(simulated[links]), median(beyond[links])
        most_s = 0.3 + simulation_s / 10
        rows.append(
            row(f"{links:,} links, {what}", more_s, "CPU s", f"at most {most_s:.2f}", more_s <= most_s)
        )
        rows.append(row("  the simulation", simulation_s, "CPU s", "", True))
        rows.append(row("  of the simulation", more_s / simulation_s, "", "", True))
    return rows


def memory(rounds: int) -> list[Row]:
    """The peak of a long run."""
    peaks = []
    with folder() as here:
        (here / "six.yaml").write_text(SIX_FLOWS, encoding="utf-8")
        for _ in range(rounds):
            peaks.append(used("sim", "six.yaml", "--no-report").peak_bytes / 1e6)
    peak = median(peaks)
    return [row("1,000 s of six flows, peak memory", peak, "MB", f"at most {MOST_MB}", peak <= MOST_MB)]


if __name__ == "__main__":
    measure_all(
        __doc__,
        {
            "commands": commands,
            "imports": imports,
            "overhead": overhead,
            "reports": reports,
            "memory": memory,
        },
        Path(__file__).parent / "commands.json",
    )
