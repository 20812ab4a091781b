"""Runs of a benchmark in separate processes: simulated in parallel, live one at a time."""

import json
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml

from longhaul.benchmark.suite import Measured, SuiteCase
from longhaul.errors import LonghaulError
from longhaul.run import signals
from longhaul.subprocesses import spawning

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Mode = Literal["sim", "live"]

DISTURBED = 0.05
"""A live run whose engine this machine kept waiting for more than this share of the time is run again."""


@dataclass(frozen=True)
class Trial:
    """One run."""

    case: SuiteCase
    subject: str
    """What is compared: a congestion-control algorithm, a queue discipline."""
    standard: str | None
    """What the subject runs beside, if the case has that."""
    mode: Mode
    repeat: int
    seed: int
    tries: int = 1
    """How often a live run is tried at most, if it is disturbed; then the least disturbed counts."""


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    trial: Trial
    measured: Measured | None
    error: str | None = None
    interrupted: bool = False


def perform(trial: Trial, *, place: Path, keep: bool) -> Outcome:
    """Run one; its run directory stays in ``place`` only if it is to be kept, or if it failed."""
    name = f"{trial.case.slug(trial.subject, trial.standard)}-{trial.mode}-{trial.repeat + 1}"
    path = place / f"{name}.yaml"
    content = trial.case.document(subject=trial.subject, standard=trial.standard, seed=trial.seed)
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    outcome = _guarded(trial, path, place, name)
    if not keep and outcome.error is None:
        shutil.rmtree(place / name, ignore_errors=True)
        path.unlink(missing_ok=True)
    return outcome


def _guarded(trial: Trial, path: Path, place: Path, name: str) -> Outcome:
    try:
        return _run(trial, path, place, name)
    except LonghaulError as error:
        return Outcome(trial, None, str(error))
    except KeyboardInterrupt:
        return Outcome(trial, None, interrupted=True)
    except Exception as error:  # noqa: BLE001
        return Outcome(trial, None, f"internal error: {type(error).__name__}: {error}")


def _run(trial: Trial, path: Path, place: Path, name: str) -> Outcome:
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(path))
    if trial.mode == "sim":
        return _once(trial, resolved, place, name)
    best: Outcome | None = None
    for _ in range(trial.tries):
        outcome = _once(trial, resolved, place, name)
        if outcome.interrupted or outcome.measured is None:
            return outcome
        if best is None or best.measured is None or outcome.measured.stopped < best.measured.stopped:
            best = outcome
        if outcome.measured.stopped <= DISTURBED:
            break
    return best or Outcome(trial, None, "was not run")


def _once(trial: Trial, resolved: "Resolved", place: Path, name: str) -> Outcome:
    from longhaul.run import conclusion, live, sim

    argv = [*sys.argv]
    if trial.mode == "sim":
        # Between runs these processes ignore it, and leave the answer to their parent.
        with signals.interrupting():
            simulated = sim.run(resolved, runs=place, argv=argv, progress=lambda _now, _real: None, name=name)
        directory, reason = simulated.directory, simulated.reason
    else:
        prepared = live.prepare(resolved, runs=place, argv=argv, name=name)
        finished = live.run(prepared, progress=conclusion.ignore)
        directory, reason = finished.directory, finished.reason
    if reason == "interrupted":
        return Outcome(trial, None, interrupted=True)
    summary = conclusion.conclude(directory, reason=reason, report=False)
    return Outcome(trial, trial.case.measure(directory, summary, stopped=stopped_share(directory)))


def stopped_share(directory: Path) -> float:
    """For what share of a live run the machine did not let the engine run; 0 for a simulation."""
    engine = json.loads((directory / "raw" / "engine.json").read_text(encoding="utf-8"))
    gaps = engine.get("gaps") or {}
    return float(gaps.get("total_ns", 0) / max(engine["duration_ns"], 1))


def perform_all(trials: Sequence[Trial], *, place: Path, keep: bool, at_once: int) -> Iterator[Outcome]:
    """Every trial, ``at_once`` at a time, as they end."""
    if not trials:
        return
    place.mkdir(parents=True, exist_ok=True)
    waiting = list(reversed(trials))
    while waiting:
        # Where a process was killed, its pool ends, and another does the rest.
        yield from _perform_in_a_pool(waiting, place=place, keep=keep, at_once=at_once)


def _perform_in_a_pool(waiting: list[Trial], *, place: Path, keep: bool, at_once: int) -> Iterator[Outcome]:
    """Trials from the end of ``waiting``, until there are none or a process was killed."""
    context = multiprocessing.get_context("spawn")
    with (
        spawning(),
        ProcessPoolExecutor(
            min(at_once, len(waiting)), mp_context=context, initializer=_begin, initargs=(os.getpid(),)
        ) as pool,
        _ended_early(),
    ):
        running: dict[Future[Outcome], Trial] = {}
        is_broken = False
        while running or (waiting and not is_broken):
            while waiting and not is_broken and len(running) < at_once:
                trial = waiting.pop()
                try:
                    running[pool.submit(perform, trial, place=place, keep=keep)] = trial
                except BrokenProcessPool:
                    waiting.append(trial)
                    is_broken = True
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                trial = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    is_broken = True
                    yield Outcome(trial, None, "a process of the benchmark was killed meanwhile")


@contextmanager
def _ended_early() -> Iterator[None]:
    """Tell processes to end what they do, should the block end before them."""
    try:
        yield
    except BaseException:
        for child in multiprocessing.active_children():
            with suppress(ProcessLookupError):
                os.kill(child.pid or 0, signal.SIGINT)
        raise


def _begin(parent: int) -> None:
    """In each process: leave Ctrl-C to the parent, and end when it has gone, whichever way."""

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    signals.disregard()
    threading.Thread(target=follow, daemon=True).start()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))
