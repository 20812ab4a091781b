"""What tests of the virtual clock share."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Longhaul = Callable[..., "subprocess.CompletedProcess[str]"]
Run = Callable[..., "Ran"]

BETWEEN_TWO = """\
version: 1
name: two
seed: 7
duration: 2s
nodes:
  a: {kind: host}
  b: {kind: host}
links:
  a-b: {endpoints: [a, b], delay: 10ms, rate: 100Mbit, queue: {kind: fifo, limit: 1bdp}}
"""


class Ran:
    """A run that has ended."""

    def __init__(self, done: "subprocess.CompletedProcess[str]", directory: Path) -> None:
        self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.directory = directory

    @property
    def summary(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.directory / "summary.json").read_text())
        return content

    @property
    def digest(self) -> str:
        return str(self.summary["virtual_clock"]["digest"])

    def log(self, name: str) -> str:
        return (self.directory / "logs" / name).read_text()


def program(code: str, **more: object) -> str:
    """The network of two with a Python program in host a; the fixture ``run`` writes its ``code``."""
    extra = "".join(f", {key}: {json.dumps(value)}" for key, value in more.items())
    lines = "".join(f"# {line}\n" for line in code.splitlines())
    return f"{BETWEEN_TWO}programs:\n  p: {{run: python3 program.py, hosts: [a]{extra}}}\n{lines}"
