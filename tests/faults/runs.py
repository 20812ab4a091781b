"""Live runs in processes of their own, to be hurt: what starts them, and whether anything of them is left."""

import json
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from injection import until
from stage import Stage

from longhaul.results import run_record
from longhaul.results.ending import Ending

PAIR = """
version: 1
name: {name}
{duration}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: 2ms, rate: 10Mbit}}}}
traffic: {{load: {{kind: udp, from: a, to: b, rate: 1Mbit}}}}
{more}
"""


@dataclass
class Place(Stage):
    """A directory whose scenario has a name of its own: what is left of other tests' runs is not its own."""

    name: str = field(default_factory=lambda: f"pair{secrets.token_hex(4)}")

    @property
    def directory(self) -> Path:
        """The run directory that was made last."""
        return (self.runs / self.name / "latest").resolve()

    def scenario(self, more: str = "", *, duration_s: float | None = 60) -> str:
        duration = f"duration: {duration_s}s" if duration_s is not None else ""
        path = self.path / "pair.yaml"
        path.write_text(PAIR.format(name=self.name, duration=duration, more=more))
        return str(path)

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """A command of Longhaul whose output is read from a pipe."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return super().start(*arguments, **{**pipes, **options})

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

    def ending(self) -> Ending:
        """How the latest run ended, as it is written."""
        content = run_record.read(self.directory / "run.json")
        return Ending(content["status"], content["reason"])

    def warnings(self) -> list[str]:
        found: list[str] = run_record.read(self.directory / "run.json").get("warnings", [])
        return found

    def is_clean(self) -> bool:
        """Whether there soon is nothing left of runs that have ended."""
        return until(lambda: not self.left(), within_s=10)

    def summary(self) -> dict[str, Any]:
        """What a report that is written again says."""
        again = self.command("report", str(self.directory))
        assert again.returncode == 0, again.stderr
        content: dict[str, Any] = json.loads((self.directory / "summary.json").read_text())
        return content
