"""What ``longhaul reproduce`` does."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from longhaul import log
from longhaul.artifacts.description import RunsDescription, StudyDescription, Tolerance
from longhaul.artifacts.reproduction import FOLDER, Reproduction, write
from longhaul.artifacts.run_artifacts import reproduction as of_runs
from longhaul.artifacts.study_artifacts import reproduction as of_studies
from longhaul.cli.progress import Progress as Running
from longhaul.cli.progress import Simulating
from longhaul.cli.terminal.reproduction import print_reproduction, print_study_reproduction
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.rerun import Progress, Recorded
from longhaul.units.text import duration_text


@contextmanager
def _telling(display: Simulating | Running) -> Iterator[Callable[..., None]]:
    with display:
        yield display.tell


def reproduce_runs(
    sources: Sequence[Path],
    about: RunsDescription | None,
    *,
    metrics: Sequence[str],
    tolerances: Sequence[Tolerance],
    runs: Path | None,
    set_up_s: float,
    as_json: bool,
    unused: Mapping[str, Any],
) -> int:
    """Repeat runs, or those of an artifact; returns the exit code. ``unused``: options of studies."""
    _refuse(unused, "is for artifacts of studies, and these are runs")
    found = of_runs.source(sources, about, metrics=metrics, tolerances=tolerances)
    count = found.count
    log.note(f"runs: {count}, about {duration_text(found.took_s)} by the published times")
    numbers = iter(range(1, count + 1))

    def begins(run: Recorded) -> None:
        log.note(f"{next(numbers)} of {count}: {run.name}, {run.mode}, seed {run.seed}")

    made = of_runs.reproduce(
        found,
        runs=runs or (Path("runs") if about is None else sources[0] / FOLDER / "runs"),
        set_up_s=set_up_s,
        progress=Progress(
            simulated=lambda duration_ns: _telling(Simulating(duration_ns)),
            live=lambda plan: _telling(Running(plan)),
        ),
        begins=begins,
    )
    return _concluded(None if about is None else sources[0], made, lambda: print_reproduction(made), as_json)


def reproduce_study(
    directory: Path,
    about: StudyDescription,
    *,
    only: Sequence[str],
    small: bool,
    set_up_s: float,
    as_json: bool,
    unused: Mapping[str, Any],
) -> int:
    """Measure the study of an artifact again; returns the exit code. ``unused``: options of runs."""
    _refuse(unused, f"is for runs, and {directory} has a study")
    parts = of_studies.chosen_parts(directory, about, only)
    lasting = sum(each.took_s or 0.0 for each in about.parts if each.name in parts)
    size = "at a small size" if small else f"about {duration_text(lasting)} by the published times"
    log.note(f"study {about.name}, parts: {', '.join(parts)}, {size}")
    made = of_studies.reproduce(directory, about, parts, small=small, set_up_s=set_up_s, output=sys.stderr)
    return _concluded(directory, made, lambda: print_study_reproduction(made), as_json)


def _refuse(unused: Mapping[str, Any], why: str) -> None:
    for option, value in unused.items():
        if value:
            raise LonghaulError(Code.OPTION_CONFLICT, f"{option} {why}", remedy="omit it", exit_code=2)


def _concluded(artifact: Path | None, made: Reproduction, show: Callable[[], None], as_json: bool) -> int:
    """Print the results, write them into the artifact if there is one, and return the exit code."""
    if as_json:
        click.echo(json.dumps(made.as_json(), indent=1, ensure_ascii=False))
    else:
        show()
    if artifact is not None:
        click.echo(f"results: {write(artifact, made).resolve()}", err=as_json)
    return 0 if made.is_reproduced else 1
