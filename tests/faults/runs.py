"""Live runs in processes of their own, to be hurt: what starts them, and whether anything of them is left."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul.run import ending, groups, record
from longhaul.run.ending import Ending

FOLDER = Path(__file__).parents[2] / "studies" / "faults"
sys.path.insert(0, str(FOLDER))

import injection  # noqa: E402

CLI = [sys.executable, "-m", "longhaul.cli.main"]
PAIR = """
version: 1
name: pair
{duration}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: 2ms, rate: 10Mbit}}}}
traffic: {{load: {{kind: udp, from: a, to: b, rate: 1Mbit}}}}
{more}
"""


@dataclass
class Place:
    """A directory with a scenario, and runtime and temporary directories that nobody else uses."""

    path: Path
    tag: str = field(default_factory=lambda: f"FAULTS_TRIAL={secrets.token_hex(8)}")

    def __post_init__(self) -> None:
        """Make the directories."""
        for each in (self.runtime, self.temporary):
            each.mkdir(mode=0o700, parents=True)

    @property
    def runtime(self) -> Path:
        return self.path / "runtime"

    @property
    def temporary(self) -> Path:
        return self.path / "tmp"

    @property
    def directory(self) -> Path:
        """The run directory that was made last."""
        return (self.path / "runs" / "pair" / "latest").resolve()

    @property
    def environment(self) -> dict[str, str]:
        name, _, value = self.tag.partition("=")
        places = {"XDG_RUNTIME_DIR": str(self.runtime), "TMPDIR": str(self.temporary)}
        return {**os.environ, **places, name: value}

    def scenario(self, more: str = "", *, duration_s: float | None = 60) -> str:
        duration = f"duration: {duration_s}s" if duration_s is not None else ""
        path = self.path / "pair.yaml"
        path.write_text(PAIR.format(duration=duration, more=more))
        return str(path)

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """A command of Longhaul's that goes on."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        settings = {"cwd": self.path, "env": self.environment, **pipes, **options}
        return subprocess.Popen([*CLI, *arguments], **settings)

    def command(self, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        """A command of Longhaul's from its beginning to its end."""
        process = self.start(*arguments, stderr=subprocess.PIPE, **options)
        out, errors = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, errors)

    @contextmanager
    def run(self, more: str = "", *arguments: str, **options: Any) -> Iterator["subprocess.Popen[str]"]:
        """A live run that is under way; it is killed in the end, if it has not ended."""
        process = self.start("run", self.scenario(more), "--no-report", *arguments, **options)
        try:
            assert until(self.records_something), process.communicate(timeout=10)
            yield process
        finally:
            process.kill()
            process.wait(timeout=20)
            if process.stdout is not None:
                process.stdout.close()

    def records_something(self) -> bool:
        """Whether the run's clock has started and records come."""
        samples = self.directory / "raw" / "samples.csv"
        return samples.is_file() and samples.read_bytes().count(b"\n") > 4

    def tree(self, client: int | None = None) -> injection.Tree:
        return injection.tree(client, tag=self.tag)

    def ending(self) -> Ending:
        """How the latest run ended, as it is written."""
        content = record.read(self.directory / "run.json")
        return Ending(content["status"], content["reason"])

    def warnings(self) -> list[str]:
        found: list[str] = record.read(self.directory / "run.json").get("warnings", [])
        return found

    def left(self) -> list[str]:
        """What is there of runs that have ended: processes, control groups, sockets, temporary files."""
        names = [f"process {pid}: {' '.join(injection.command(pid))}" for pid in injection.tagged(self.tag)]
        names += [f"group {path}" for path in groups.everywhere() if self._is_ours(path)]
        names += [str(path) for path in self.runtime.rglob("*") if not path.is_dir()]
        names += [str(path) for path in self.temporary.iterdir()]
        names += [str(path) for path in self.directory.rglob(".*")]
        return names

    def is_clean(self) -> bool:
        """Whether there soon is nothing left of runs that have ended."""
        return until(lambda: not self.left(), within_s=10)

    def summary(self) -> dict[str, Any]:
        """What a report that is written again says."""
        again = self.command("report", str(self.directory))
        assert again.returncode == 0, again.stderr
        content: dict[str, Any] = json.loads((self.directory / "summary.json").read_text())
        return content

    @staticmethod
    def _is_ours(group: Path) -> bool:
        return groups.run_of(group).startswith("pair-")


def until(condition: Callable[[], bool], *, within_s: float = 30) -> bool:
    """Wait until a condition holds; whether it does."""
    until_s = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until_s:
            return False
        time.sleep(0.02)
    return True


def is_settled(directory: Path) -> bool:
    """Whether a run has ended, as far as can be seen."""
    return not ending.read(directory).is_running
