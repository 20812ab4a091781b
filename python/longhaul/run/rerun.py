"""A run made again from its directory: the same scenario, parameters, files, seed and clock."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending
from longhaul.results.run_files import read_object
from longhaul.run import conclusion, live, sim
from longhaul.run.session import Message
from longhaul.run.virtual_clock import VirtualClock, virtual_clock
from longhaul.scenario import resolve
from longhaul.scenario.check.load import parse_scenario

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Mode = Literal["sim", "live", "mixed", "virtual"]

_BY_ITSELF = ("duration", "programs", "flows")
"""The statuses of runs that end in the same way again."""
_REMEDY = "run the scenario again, with its changes as events, and name that run"


@dataclass(frozen=True)
class Recorded:
    """What the directory of a run says of how it was made."""

    directory: Path
    name: str
    mode: Mode
    """``mixed`` and ``live`` are on the real clock."""
    seed: int
    settings: Mapping[str, str]
    """Parameters that the command line gave."""
    kernel: str | None
    """Version of the hosts' kernel, on the virtual clock."""

    @property
    def command(self) -> str:
        """What makes the same run from the scenario's file."""
        words = ["longhaul", "sim" if self.mode == "sim" else "run", "scenario.yaml"]
        words += [f"--set {name}={value}" for name, value in self.settings.items()]
        words += [f"--seed {self.seed}"]
        if self.mode == "virtual":
            words += ["--clock virtual", f"--kernel {self.kernel}"]
        return " ".join(words)


@dataclass(frozen=True)
class Progress:
    """Displays of the progress of a rerun."""

    simulated: Callable[[int | None], AbstractContextManager[sim.Progress]]
    """For a duration in ns, a function of simulated and real seconds."""
    live: Callable[[Path], AbstractContextManager[Callable[[Message], None]]]
    """For the file of the plan, a function of each event of the run."""


SILENT = Progress(
    lambda _duration_ns: nullcontext(lambda _now_s, _real_s: None),
    lambda _plan: nullcontext(conclusion.ignore),
)


def recorded(directory: Path, *, comparable: bool = True) -> Recorded:
    """How the run in ``directory`` was made. Raises LonghaulError for what cannot be repeated.

    Without ``comparable`` also that of a run which was ended or changed by hand: its repetition is not.
    """
    if not (directory / "plan.json").is_file():
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{directory} is not a run directory",
            remedy="name one, such as runs/NAME/latest-sim",
            exit_code=2,
        )
    record = directories.read_run(directory)
    _refuse(directory, record, comparable=comparable)
    kernel = record.get("guest_kernel")
    return Recorded(
        directory,
        str(record["name"]),
        record["mode"],
        int(record["seed"]),
        {str(name): str(value) for name, value in record["settings"].items()},
        None if kernel is None else str(kernel["name"]),
    )


def is_changed_by_hand(directory: Path) -> bool:
    """Whether links of the run were changed while it ran."""
    changes = read_object(directory / "summary.json").get("changes") or ()
    return any(change.get("kind") == "intervention" for change in changes)


def _refuse(directory: Path, record: Mapping[str, Any], *, comparable: bool) -> None:
    why = ""
    if record["mode"] not in ("sim", "live", "mixed", "virtual"):
        why = f"it is a {record['mode']}"
    elif (directory / "transfers.json").is_file():
        why = "it is a schedule of transfers"
    elif (ended := ending.read(directory)).is_running:
        why = "it has not ended"
    elif comparable and ended.status not in _BY_ITSELF:
        why = f"it did not end by itself: {ended.reason or ended.status}"
    elif "settings" not in record or "files" not in record:
        why = "the version of Longhaul that made it did not record its parameters"
    elif comparable and is_changed_by_hand(directory):
        why = "its links were changed by hand while it ran"
    if why:
        raise LonghaulError(
            Code.RUN_NOT_REPEATABLE, f"{directory} cannot be repeated: {why}", remedy=_REMEDY, exit_code=2
        )


def resolved(run: Recorded) -> "Resolved":
    """The scenario of a run as it was. Raises LonghaulError if its files are missing or damaged."""
    record = directories.read_run(run.directory)
    try:
        source = (run.directory / "scenario.yaml").read_bytes()
        contents = {name: (run.directory / place).read_bytes() for name, place in record["files"].items()}
    except OSError as error:
        raise LonghaulError(
            Code.RESULTS_DAMAGED,
            f"{error.filename}: {error.strerror}",
            remedy="restore it from a copy, or run the scenario again",
            exit_code=2,
        ) from error
    name = str(run.directory / "scenario.yaml")
    scenario = parse_scenario(source, name=name, settings=run.settings, contents=contents)
    return resolve(scenario, seed=run.seed)


def clock(run: Recorded, scenario: "Resolved") -> VirtualClock | None:
    """The virtual clock of a run, with the same version of the kernel; ``None`` for other modes.

    Raises LonghaulError if that kernel is not built.
    """
    return virtual_clock(scenario.scenario, run.kernel) if run.mode == "virtual" else None


@dataclass(frozen=True)
class Rerun:
    """A run that was made again."""

    directory: Path
    execution_s: float
    analysis_s: float
    """Results and report."""


def rerun(run: Recorded, *, runs: Path, progress: Progress = SILENT, report: bool = True) -> Rerun:
    """Make a run again, in a new directory in ``runs``.

    Raises LonghaulError, and KeyboardInterrupt if it was interrupted.
    """
    began = time.monotonic()
    scenario = resolved(run)
    if run.mode == "sim":
        with progress.simulated(scenario.plan["duration_ns"]) as tell:
            simulated = sim.run(scenario, runs=runs, argv=sys.argv, progress=tell)
        directory, reason = simulated.directory, simulated.reason
    else:
        prepared = live.prepare(scenario, runs=runs, argv=sys.argv, clock=clock(run, scenario))
        with (
            conclusion.results_so_far(prepared.directory, report=report),
            progress.live(prepared.plan) as event,
        ):
            finished = live.run(prepared, progress=event)
        directory, reason = finished.directory, finished.reason
    ended = time.monotonic()
    conclusion.conclude(directory, reason=reason, report=report)
    if reason == ending.INTERRUPTED:
        raise KeyboardInterrupt
    return Rerun(directory, ended - began, time.monotonic() - ended)
