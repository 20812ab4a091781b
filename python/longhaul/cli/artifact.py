"""``longhaul artifact`` and ``longhaul reproduce``: runs for others, and runs made again."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from longhaul.artifacts.description import Tolerance
    from longhaul.cli.progress import Progress as Running
    from longhaul.cli.progress import Simulating


@contextmanager
def _telling(display: "Simulating | Running") -> Iterator[Callable[..., None]]:
    with display:
        yield display.tell


def _tolerances_of(values: tuple[str, ...]) -> tuple["Tolerance", ...]:
    """Raises click.BadParameter for what is not a share."""
    from longhaul.artifacts.description import Tolerance
    from longhaul.units.quantities import Share, UnitError

    found = []
    for value in values:
        pattern, _, share = value.rpartition("=")
        try:
            found.append(Tolerance(pattern=pattern or "*", share=float(Share.parse(share))))
        except UnitError as error:
            raise click.BadParameter(f"{error.message}; {error.remedy}") from error
    return tuple(found)


_DIRECTORY = click.Path(path_type=Path, file_okay=False, exists=True)
_metrics = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="PATTERN",
    help='Compare these metrics, such as "flows.*.goodput"; may be repeated.',
)
_tolerances = click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    metavar="[PATTERN=]SHARE",
    callback=lambda _context, _parameter, values: _tolerances_of(values),
    help='How far a mean may be from the published one: 5%, or "flows.*.goodput=2%" for some metrics; may be '
    "repeated. Default: 5% simulated and on the virtual clock, 15% on the real clock.",
)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_DIRECTORY)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The archive. Default: NAME-artifact.tar.gz here.",
)
@click.option("--title", help="What the artifact is called.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author; may be repeated.")
@click.option("--license", "license_", metavar="SPDX", help="Licence of the data, such as CC-BY-4.0.")
@click.option(
    "--wheel",
    "wheels",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A wheel of Longhaul that the artifact installs; may be repeated.",
)
@_metrics
@_tolerances
def artifact(
    runs: tuple[Path, ...],
    output: Path | None,
    title: str | None,
    authors: tuple[str, ...],
    license_: str | None,
    wheels: tuple[Path, ...],
    metrics: tuple[str, ...],
    tolerances: tuple["Tolerance", ...],
) -> None:
    """Write one archive with RUNS and all that others need to repeat and to evaluate them.

    Each of RUNS is a run directory, or one with several. The archive has the runs, a page with claims,
    commands, times, tolerances and machine, versions of packages, CITATION.cff, checksums, and a script
    `reproduce` that repeats all runs and compares them with these. Equal runs give equal archives.

    \b
    longhaul artifact runs/atlantic/latest-sim
    longhaul artifact runs/atlantic-cubic runs/atlantic-bbr --author "A. Author" --license CC-BY-4.0
    longhaul artifact runs/atlantic --tolerance "flows.*.goodput=2%" --wheel dist/longhaul-0.1.0.whl
    """
    from longhaul.artifacts import bundle, grouping
    from longhaul.units.text import bytes_text, duration_text

    found = grouping.grouped(runs, metrics=metrics, tolerances=tolerances)
    place = output or Path(f"{found[0].runs[0].name}-artifact.tar.gz")
    about = bundle.write(place, found, title=title, authors=authors, license_=license_, wheels=wheels)
    count = sum(len(group.runs) for group in about.groups)
    took = duration_text(sum(group.took_s for group in about.groups))
    click.echo(f"{place}: {bytes_text(place.stat().st_size)}, runs: {count}, repeated in about {took}")
    click.echo(f"to try it: tar xf {place} && {place.name.removesuffix('.tar.gz')}/reproduce")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="ARTIFACT|RUN...", type=_DIRECTORY)
@_metrics
@_tolerances
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where new runs go. Default: reproduction/runs in an artifact, else runs.",
)
@click.option("--set-up-s", type=click.FloatRange(min=0), default=0.0, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def reproduce(
    sources: tuple[Path, ...],
    metrics: tuple[str, ...],
    tolerances: tuple["Tolerance", ...],
    runs: Path | None,
    set_up_s: float,
    as_json: bool,
) -> None:
    """Repeat runs with the same scenario, parameters, files, seed and clock, and compare the results.

    The source is the directory that an artifact unpacked to, or run directories. Simulations and runs on the
    virtual clock by the same version are identical, bit by bit. Others are reproduced if each mean differs
    by at most its tolerance, or by less than the 95 % confidence interval of the difference. Scenarios start
    programs as you: read those of others first.

    Exit codes: 0 reproduced; 1 something is beyond its tolerance; 2 damaged artifact or wrong usage; 3 this
    machine cannot; 130 interrupted.

    \b
    longhaul reproduce runs/atlantic/latest-sim
    longhaul reproduce atlantic-artifact
    longhaul reproduce atlantic-artifact --tolerance 2% --metric "flows.*.goodput"
    """
    from longhaul import log
    from longhaul.artifacts import description, reproduction
    from longhaul.cli.progress import Progress as Running
    from longhaul.cli.progress import Simulating
    from longhaul.cli.terminal.reproduction import print_reproduction
    from longhaul.run.rerun import Progress, Recorded
    from longhaul.units.text import duration_text

    found = reproduction.source(sources, metrics=metrics, tolerances=tolerances)
    is_artifact = description.is_artifact(sources[0])
    count = found.count
    log.note(f"runs: {count}, about {duration_text(found.took_s)} by the published times")
    numbers = iter(range(1, count + 1))

    def begins(run: Recorded) -> None:
        log.note(f"{next(numbers)} of {count}: {run.name}, {run.mode}, seed {run.seed}")

    made = reproduction.reproduce(
        found,
        runs=runs or (sources[0] / "reproduction" / "runs" if is_artifact else Path("runs")),
        set_up_s=set_up_s,
        progress=Progress(
            simulated=lambda duration_ns: _telling(Simulating(duration_ns)),
            live=lambda plan: _telling(Running(plan)),
        ),
        begins=begins,
    )
    if as_json:
        click.echo(json.dumps(made.as_json(), indent=1))
    else:
        print_reproduction(made)
    if is_artifact:
        page = reproduction.write(sources[0], made)
        click.echo(f"results: {page.resolve()}", err=as_json)
    sys.exit(0 if made.is_reproduced else 1)
