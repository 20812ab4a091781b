"""Sweeps from Python."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.scenario.expand.axes import text_of
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.preparation import prepare
from longhaul.sweeps.sweep import Swept
from longhaul.sweeps.trials import SweepClock, trials_of
from longhaul.sweeps.workers import workers_of


def sweep(
    scenario: str | os.PathLike[str],
    *,
    axes: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    repeat: int | None = None,
    design: str | None = None,
    points: int | None = None,
    seeds: str | None = None,
    metrics: Sequence[str] = (),
    until: str | None = None,
    params: Mapping[str, Any] | None = None,
    runs: str | os.PathLike[str] = "runs",
    name: str | None = None,
    workers: int | None = None,
    cluster: str | Mapping[str, Any] | None = None,
    report: bool = True,
    clock: SweepClock = "simulated",
    kernel: str | None = None,
) -> Swept:
    """Simulate, or run, the scenario in a file for every combination of the values of ``axes``.

    On the ``real`` and ``virtual`` clocks trials are live runs, as by :func:`longhaul.run_live`. On the real
    one a machine does one at a time; on the virtual one ``kernel`` is the version of their hosts' Linux.

    An axis is a parameter, or a key such as ``links.wan.loss``; its values are a list, or a range:
    ``{"from": "10ms", "to": "100ms", "steps": 5}``. What is left out is as the scenario's ``sweep:`` has it.
    ``cluster`` is what ``--cluster`` takes, or the contents of such a file. Raises LonghaulError.
    """
    options = Options(
        axes={axis: _values(values) for axis, values in axes.items()} if axes else None,
        design=design,
        points=points,
        repeat=repeat,
        seeds=seeds,
        metrics=tuple(metrics),
        until=until,
    )
    settings = {key: str(value) for key, value in (params or {}).items()}
    trials = trials_of(clock, kernel)
    prepared = prepare(Path(scenario), settings=settings, options=options, trials=trials)
    with workers_of(workers, cluster, trials=trials) as hands:
        folder = sweeps.begin(prepared, runs=Path(runs), argv=sys.argv, name=name)
        return sweeps.execute(folder, prepared, hands, report=report)


def resume(
    directory: str | os.PathLike[str],
    *,
    workers: int | None = None,
    cluster: str | Mapping[str, Any] | None = None,
    report: bool = True,
) -> Swept:
    """Do what is missing of the sweep in ``directory``. Raises LonghaulError."""
    folder, prepared = sweeps.prepare_rest(Path(directory))
    with workers_of(workers, cluster, trials=prepared.job.trials) as hands:
        return sweeps.execute(folder, prepared, hands, report=report)


def _values(values: Sequence[Any] | Mapping[str, Any]) -> str:
    return text_of(values) if isinstance(values, Mapping) else ", ".join(text_of(each) for each in values)
