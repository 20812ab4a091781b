"""A directory of its own in which Longhaul's commands are started and hurt, and what they leave there."""

import os
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import injection

from longhaul.results import ending
from longhaul.run import groups

CLI = [sys.executable, "-m", "longhaul.cli.main"]


@dataclass
class Stage:
    """A directory with runtime and temporary directories of its own, and a tag for its processes."""

    path: Path
    name: str
    """Of the scenario whose runs take place here."""
    tag: str = field(default_factory=lambda: f"FAULTS_TRIAL={secrets.token_hex(8)}")
    """``NAME=value`` in the environment of every process that is started here."""

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
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def environment(self) -> dict[str, str]:
        name, _, value = self.tag.partition("=")
        places = {"XDG_RUNTIME_DIR": str(self.runtime), "TMPDIR": str(self.temporary)}
        return {**os.environ, **places, name: value}

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[Any]":
        """A command of Longhaul, with more options of :class:`subprocess.Popen`."""
        settings = {"cwd": self.path, "env": self.environment, **options}
        return subprocess.Popen([*CLI, *arguments], **settings)

    def tree(self, client: int | None = None) -> injection.Tree:
        """The processes of the run that is under way here."""
        return injection.tree(client, tag=self.tag)

    def kill(self) -> None:
        """End every process that was started here and has not ended."""
        for pid in injection.tagged(self.tag):
            injection.send(pid, signal.SIGKILL)

    def left(self) -> list[str]:
        """Processes, control groups, sockets and temporary files of runs that have ended."""
        names = [
            f"process {pid}: {' '.join(injection.command(pid))[:80]}" for pid in injection.tagged(self.tag)
        ]
        ours = f"{self.name}-"
        names += [f"group {each}" for each in groups.everywhere() if groups.run_of(each).startswith(ours)]
        paths = [each for each in self.runtime.rglob("*") if _is_left(each)]
        paths += self.temporary.iterdir()
        paths += self.runs.rglob(".*")
        return names + [str(each.relative_to(self.path)) for each in paths]


def _is_left(path: Path) -> bool:
    """Whether something in a runtime directory is not just a directory that is there for all runs."""
    return not path.is_dir() or path.name.startswith("longhaul-")


def is_settled(directory: Path) -> bool:
    """Whether a run has ended, as far as can be seen."""
    return not ending.read(directory).is_running
