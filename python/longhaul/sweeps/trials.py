"""Trials that are live runs, a process each: on the real clock, or on the virtual one with kernels of hosts.

A trial runs in a temporary directory. Whatever ends its worker or this process ends the trial: the supervisor
then removes that directory, and otherwise the next trial on the machine does. Only its rows remain.
"""

import platform
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from longhaul import _longhaul
from longhaul.analysis.outcome import Outcome
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find
from longhaul.plan import Measure
from longhaul.results import ending, outcomes
from longhaul.results.summary import write_results
from longhaul.run import conclusion, live
from longhaul.run.cleanup import remove_temporary, temporary_prefix
from longhaul.run.memory import MemoryLimitError
from longhaul.run.session import EXIT_CANNOT, RunFailedError, Session
from longhaul.run.virtual_clock import Clock, VirtualClock, virtual_clock
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.resolve import Resolved
from longhaul.sweeps.turns import turn

Json = dict[str, Any]
SweepClock = Literal["simulated", "virtual", "real"]

_WHAT = f"trial-{platform.node()}"
"""Part of the names of temporary directories, which machines may share."""
_INTERVAL_S = 0.1
"""Between two looks at the flag that ends trials."""


class UnableMachineError(LonghaulError):
    """This machine cannot do a trial, for want of a kernel, a program or a right; another may."""


def _unable(error: LonghaulError) -> UnableMachineError:
    message = f"{platform.node()}: {error.message}"
    return UnableMachineError(error.code, message, remedy=error.remedy, exit_code=error.exit_code)


@dataclass(frozen=True)
class LiveTrials:
    """What the trials of a sweep of live runs have in common."""

    directory: str
    """Where their programs begin, on machines that have it: the working directory of the sweep."""
    clock: Clock = "virtual"
    kernel: str | None = None
    """The version of the hosts' kernels, instead of the scenario's."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """The kernel that each version meant when the sweep began; "" is no version."""

    @property
    def take_turns(self) -> bool:
        """Whether a machine does one at a time, because on the real clock they would slow each other."""
        return self.clock == "real"

    def version(self, scenario: Scenario) -> str:
        """Of the kernel that a variant names; "" if none does."""
        return self.kernel or scenario.document.kernel or ""

    def clock_of(self, scenario: Scenario) -> VirtualClock | None:
        """The virtual clock of a variant, with the same kernel on each machine; ``None`` for the real one.

        Raises LonghaulError without that kernel.
        """
        if self.clock == "real":
            return None
        name = self.kernels.get(self.version(scenario))
        return virtual_clock(scenario, name or self.kernel)

    def plan_here(self, resolved: Resolved) -> live.Planned:
        """What a trial does on this machine, which may be one of many.

        Raises UnableMachineError with its name for what another may be able to do, and LonghaulError.
        """
        try:
            return plan_trial(resolved, self.clock_of(resolved.scenario))
        except LonghaulError as error:
            if error.exit_code != EXIT_CANNOT:
                raise
            raise _unable(error) from None

    def as_json(self) -> Json:
        """For the sweep's record, with the hosts' kernels as runs name them."""
        guests = [VirtualClock(find(name)).as_json() for name in dict.fromkeys(self.kernels.values())]
        return {**asdict(self), "guest_kernels": guests}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "LiveTrials":
        """From what :meth:`as_json` gave."""
        return cls(**{each.name: record[each.name] for each in fields(cls)})


def trials_of(clock: SweepClock, kernel: str | None = None) -> LiveTrials | None:
    """Trials that are live runs whose programs begin in the working directory; ``None``: simulations."""
    if kernel is not None and clock != "virtual":
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "simulations have no kernel" if clock == "simulated" else "hosts have the kernel of this machine",
            remedy="leave it out, or choose the virtual clock",
            exit_code=2,
        )
    return None if clock == "simulated" else LiveTrials(str(Path.cwd()), clock, kernel)


@dataclass(frozen=True)
class Trial:
    """A trial that has ended."""

    summary: Json | None
    """As that of ``longhaul run``; ``None`` if the run failed on its way."""
    error: str | None
    """Why it failed; a trial whose program or expectation failed has a summary, too."""


def plan_trial(resolved: Resolved, clock: VirtualClock | None) -> live.Planned:
    """What a trial does: the same packets as a run, without records that rows do not have.

    On the real clock (``None``) the monitor stays: whether hosts had their processors is part of the verdict.
    """
    found = live.plan_run(resolved, clock=clock)
    measure: Measure = {
        **found.plan["measure"],
        "monitor": None if clock is not None else found.plan["measure"]["monitor"],
        "captures": [],
        "packet_links": [],
        "journal": False,
    }
    return replace(found, plan={**found.plan, "measure": measure})


def run_trial(
    trial: live.Planned,
    directory: str,
    *,
    stop: _longhaul.Stop | None = None,
    memory_bytes: int | None = None,
    longest_s: float | None = None,
) -> Trial | None:
    """Run to the end, or for ``longest_s`` of real time; ``None`` if ``stop`` was set before.

    On the real clock it waits for its turn on this machine. Programs begin in ``directory`` if it exists.
    The trial's supervisor may use ``memory_bytes`` of memory, by default half of what is free. Raises
    MemoryLimitError, UnableMachineError if a run on the real clock cannot begin here, and OSError.
    """
    mine: AbstractContextManager[bool] = nullcontext(True) if trial.clock is not None else turn(stop)
    with (
        mine as has_turn,
        tempfile.TemporaryDirectory(prefix=temporary_prefix(_WHAT), ignore_cleanup_errors=True) as place,
    ):
        if not has_turn:
            return None
        remove_temporary(_WHAT)
        prepared = live.begin(trial, runs=Path(place), argv=[])
        work = Path(directory) if Path(directory).is_dir() else prepared.directory
        with ExitStack() as watching:

            def began(session: Session) -> None:
                watching.enter_context(_watched(session, stop, longest_s))

            try:
                finished = live.run(
                    prepared,
                    progress=conclusion.ignore,
                    memory_bytes=memory_bytes,
                    scratch=[Path(place)],
                    work=work,
                    quiet=True,
                    began=began,
                )
            except (KeyboardInterrupt, RunFailedError) as error:
                if stop is not None and stop.is_set():
                    return None
                if isinstance(error, RunFailedError):
                    if trial.clock is None and error.status == ending.FAILED:
                        raise _unable(error) from None
                    return Trial(None, _with_console(error, prepared.directory))
                raise
        if finished.reason == ending.INTERRUPTED:
            raise KeyboardInterrupt(ending.read(prepared.directory).reason)
        if finished.reason == ending.FAILED:
            why = ending.read(prepared.directory).reason or "the run reached its memory limit"
            raise MemoryLimitError(Code.MEMORY_LIMIT, why)
        summary = write_results(prepared.directory)
        return Trial(summary, _failure(Outcome.from_dict(summary["outcome"])))


@contextmanager
def _watched(session: Session, stop: _longhaul.Stop | None, longest_s: float | None) -> Iterator[None]:
    """Within the block, end the run when ``stop`` is set, and ask it to end after ``longest_s``."""
    over = threading.Event()
    threads = []
    if stop is not None:
        threads.append(threading.Thread(target=_end_on, args=(stop, session, over), daemon=True))
    if longest_s is not None:
        threads.append(threading.Thread(target=_end_after, args=(longest_s, session, over), daemon=True))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _end_on(stop: _longhaul.Stop, session: Session, over: threading.Event) -> None:
    while not over.wait(_INTERVAL_S):
        if stop.is_set():
            session.end_at_once("the sweep was interrupted")
            return


def _end_after(longest_s: float, session: Session, over: threading.Event) -> None:
    if not over.wait(longest_s):
        session.stop()


def _failure(outcome: Outcome) -> str | None:
    """Why a trial that ran to its end failed, with the last line of the log that says more."""
    if outcome.exit_code == 0:
        return None
    lines: Sequence[str] = next((each.lines for each in outcome.failures if each.lines), ())
    return outcome.detail + (f": {lines[-1].strip()}" if lines else "")


def _with_console(error: RunFailedError, directory: Path) -> str:
    """The error with the last line of the console that it names, as the trial's logs are removed."""
    text = error.message
    for console in sorted((directory / "logs").glob("*.console")):
        if console.name in text and (said := outcomes.last_lines_of(console)):
            return f"{text}: {said[-1].strip()}"
    return text
