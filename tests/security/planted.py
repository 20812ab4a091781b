"""What somebody else leaves in a directory where a user will work: modules and programs."""

import stat
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

PROGRAMS = (
    *("awk", "bash", "cat", "firefox", "grep", "gzip", "id", "ip", "iperf3", "ldconfig", "mpiexec", "mpirun"),
    *("mtr", "nft", "nsenter", "ping", "ps", "python", "python3", "readlink", "rm", "sh", "sleep", "sudo"),
    *(
        "slirp4netns",
        "sysctl",
        "tc",
        "tracepath",
        "traceroute",
        "true",
        "uname",
        "unshare",
        "which",
        "xdg-open",
    ),
)
OURS = ("longhaul", "_longhaul")


SCENARIO = """
version: 1
name: pair
duration: 1s
params: {cc: cubic}
nodes:
  a: {kind: host}
  b: {kind: host}
links:
  wire: {endpoints: [a, b], delay: 2ms, rate: 100Mbit}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: $cc}
  probe: {kind: ping, from: b, to: a, every: 100ms}
"""
"""A simulation that takes a moment."""


def found(trace: Path) -> str:
    """What ran of that which was planted."""
    return trace.read_text() if trace.exists() else ""


def module_names() -> set[str]:
    """Every module that an interpreter might look for, in the standard library or beside it."""
    installed = {name for name in packages_distributions() if name.isidentifier()}
    return ({*sys.stdlib_module_names} | installed | {"sitecustomize", "usercustomize"}) - {*OURS}


def plant_modules(directory: Path, trace: Path) -> None:
    """Leave modules in ``directory`` that write into ``trace`` when they are imported, and then fail.

    Beside them are settings of interpreters and of Dask that import them.
    """
    code = f"open({str(trace)!r}, 'a').write(__name__ + '\\n')\nraise SystemExit('planted')\n"
    for name in module_names():
        (directory / f"{name}.py").write_text(code, encoding="utf-8")
    (directory / "planted.pth").write_text(
        f"import os; open({str(trace)!r}, 'a').write('pth')\n", encoding="utf-8"
    )
    for place in (directory, directory / ".config" / "dask"):
        place.mkdir(parents=True, exist_ok=True)
        settings = f"distributed: {{scheduler: {{preload: [{directory}/json.py]}}}}\n"
        (place / "dask.yaml").write_text(settings, encoding="utf-8")


def plant_programs(directory: Path, trace: Path) -> None:
    """Leave programs in ``directory`` that write into ``trace`` when they are started."""
    for name in PROGRAMS:
        path = directory / name
        path.write_text(f"#!/bin/sh\necho program {name} >>{trace}\nexit 1\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    directory.chmod(0o777)
