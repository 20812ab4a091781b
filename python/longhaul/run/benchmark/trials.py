"""Runs of the benchmark, each in a process of its own choosing: simulated side by side, live one by one."""

import multiprocessing
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from longhaul.errors import LonghaulError
from longhaul.run.benchmark.case import Case, document, slug
from longhaul.run.benchmark.measures import Measured, measure

Mode = Literal["sim", "live"]


@dataclass(frozen=True)
class Trial:
    """One run."""

    case: Case
    control: str
    standard: str | None
    """The control of the standard camp, if there is one."""
    mode: Mode
    repeat: int
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    trial: Trial
    measured: Measured | None
    error: str | None = None
    interrupted: bool = False


def perform(trial: Trial, *, place: Path, keep: bool) -> Outcome:
    """Run one; its run directory stays in ``place`` only if it is to be kept."""
    name = f"{slug(trial.case, trial.control, trial.standard)}-{trial.mode}-{trial.repeat + 1}"
    path = place / f"{name}.yaml"
    content = document(trial.case, control=trial.control, standard=trial.standard, seed=trial.seed)
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    try:
        return _run(trial, path, place, name)
    except LonghaulError as error:
        return Outcome(trial, None, str(error))
    except KeyboardInterrupt:
        return Outcome(trial, None, interrupted=True)
    except Exception as error:  # noqa: BLE001
        return Outcome(trial, None, f"internal error: {type(error).__name__}: {error}")
    finally:
        if not keep:
            shutil.rmtree(place / name, ignore_errors=True)
            path.unlink(missing_ok=True)


def _run(trial: Trial, path: Path, place: Path, name: str) -> Outcome:
    from longhaul.run import experiment, live, sim
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(path))
    argv = [*sys.argv]
    if trial.mode == "sim":
        simulated = sim.run(resolved, runs=place, argv=argv, progress=lambda _now, _real: None, name=name)
        directory, reason = simulated.directory, simulated.reason
    else:
        prepared = live.prepare(resolved, runs=place, argv=argv, name=name)
        finished = live.run(prepared, progress=experiment.ignore)
        directory, reason = finished.directory, finished.reason
    if reason == "interrupted":
        return Outcome(trial, None, interrupted=True)
    summary = experiment.conclude(directory, reason=reason, report=False)
    return Outcome(trial, measure(trial.case, directory, summary))


def perform_all(trials: Sequence[Trial], *, place: Path, keep: bool, at_once: int) -> Iterator[Outcome]:
    """Every trial, ``at_once`` at a time, as they end."""
    if not trials:
        return
    place.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    waiting = iter(trials)
    with ProcessPoolExecutor(min(at_once, len(trials)), mp_context=context) as pool:
        running: dict[Future[Outcome], Trial] = {}

        def fill() -> None:
            while len(running) < at_once and (trial := next(waiting, None)) is not None:
                running[pool.submit(perform, trial, place=place, keep=keep)] = trial

        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                trial = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield Outcome(trial, None, "the process that ran it was killed")
                    return
            fill()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))
