"""What tests of ports share: a scenario with one port, and commands."""

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import longhaul
from longhaul.subprocesses import python_command

BESIDE = """
version: 1
name: beside
nodes:
  r: {kind: router}
  a: {kind: host, attach: r, profile: slow, port: PORT}
  b: {kind: host, attach: r}
profiles: {slow: {delay: 10ms}}
"""


def run(*words: str, check: bool = True) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=check).stdout


def scenario(folder: Path, port: str, text: str = BESIDE) -> Path:
    path = folder / "beside.yaml"
    path.write_text(text.replace("PORT", port))
    return path


def wait_until(true: Callable[[], bool], within_s: float = 15.0) -> None:
    until = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def started(path: Path, folder: Path) -> "subprocess.Popen[str]":
    """``longhaul run`` of a scenario."""
    command = python_command("longhaul.cli.main", "run", str(path), "--runs", str(folder / "runs"))
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def least_rtt_ms(text: str) -> float:
    return min(float(found) for found in re.findall(r"time=([\d.]+)", text))


def address_of(network: longhaul.Network, host: str) -> str:
    return network.run("b", ["getent", "ahostsv4", host]).stdout.split()[0]


def results(network: longhaul.Network, name: str) -> Any:
    """A file of results of a network that is down."""
    return json.loads((network.directory / name).read_text())


def require_no_unintended_drops(network: longhaul.Network) -> None:
    fidelity = results(network, "fidelity.json")
    assert not [each for each in fidelity["reasons"] if "unintended drops" in each["what"]]


def process_of(ancestor: int, name: str) -> int:
    """The process of this name among ``ancestor`` and those that descend from it."""
    open_pids = [ancestor]
    while open_pids:
        pid = open_pids.pop()
        if Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        open_pids += [int(child) for child in children.split()]
    raise AssertionError(name)
