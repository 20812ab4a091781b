"""``longhaul artifact`` and ``longhaul reproduce``: runs and studies for others, and made again."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from longhaul.artifacts.description import Tolerance


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
@click.argument("names", nargs=-1, required=True, metavar="STUDY|RUN...")
@click.option(
    "--directory",
    type=_DIRECTORY,
    help="Directory of studies, one of which is named. Default: studies here or in the nearest directory "
    "above.",
)
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
    names: tuple[str, ...],
    directory: Path | None,
    output: Path | None,
    title: str | None,
    authors: tuple[str, ...],
    license_: str | None,
    wheels: tuple[Path, ...],
    metrics: tuple[str, ...],
    tolerances: tuple["Tolerance", ...],
) -> None:
    """Write one archive of a study or of runs, with all that others need to repeat and evaluate them.

    Each RUN is a run directory, or one with several. STUDY is the name of a study (`longhaul study list`) or
    its directory; a directory of runs with the same name comes first. The archive has a page with claims,
    commands, times, tolerances and machine, the runs or the study with its results, versions of packages,
    CITATION.cff, checksums, and a script `reproduce` that repeats all and compares the results: metrics of
    runs within tolerances, and verdicts of claims of a study. Equal results give equal archives.

    \b
    longhaul artifact runs/atlantic/latest-sim
    longhaul artifact runs/atlantic-cubic runs/atlantic-bbr --author "A. Author" --license CC-BY-4.0
    longhaul artifact runs/atlantic --tolerance "flows.*.goodput=2%" --wheel dist/longhaul-0.1.0.whl
    longhaul artifact fitting
    longhaul artifact queue-delay --directory my-studies
    """
    from longhaul.artifacts import arguments, bundle
    from longhaul.artifacts.bundle import Labels
    from longhaul.units.text import bytes_text, duration_text

    found = arguments.contents(
        names,
        Labels(title, authors, license_),
        directory=directory,
        metrics=metrics,
        tolerances=tolerances,
    )
    place = output or Path(f"{found.about.name}-artifact.tar.gz")
    about = bundle.write(place, found, wheels=wheels)
    took = duration_text(about.took_s)
    click.echo(f"{place}: {bytes_text(place.stat().st_size)}, {about.counted}, repeated in about {took}")
    click.echo(f"to try it: tar xf {place} && {place.name.removesuffix('.tar.gz')}/reproduce")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="ARTIFACT|RUN...", type=_DIRECTORY)
@_metrics
@_tolerances
@click.option(
    "--only",
    multiple=True,
    metavar="PART",
    help="Of a study: a part, or all live, simulated or virtual ones; may be repeated.",
)
@click.option("--small", is_flag=True, help="Of a study: a small size, to try it out; verdicts do not count.")
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
    only: tuple[str, ...],
    small: bool,
    runs: Path | None,
    set_up_s: float,
    as_json: bool,
) -> None:
    """Repeat runs or a study, and compare the results with the published ones.

    The source is the directory that an artifact unpacked to, or run directories. Runs are repeated with the
    same scenario, parameters, files, seed and clock. Simulations and runs on the virtual clock by the same
    version are identical, bit by bit. Others are reproduced if each mean differs by at most its tolerance, or
    by less than the 95 % confidence interval of the difference. A study is measured again in a copy, and is
    reproduced if every claim has the published verdict. Scenarios and studies start programs as you: read
    those of others first.

    Exit codes: 0 reproduced; 1 something is beyond its tolerance, has another verdict or could not be
    measured; 2 damaged artifact or wrong usage; 3 this machine cannot; 130 interrupted.

    \b
    longhaul reproduce runs/atlantic/latest-sim
    longhaul reproduce atlantic-artifact
    longhaul reproduce atlantic-artifact --tolerance 2% --metric "flows.*.goodput"
    longhaul reproduce fitting-artifact --only simulated
    """
    from longhaul.artifacts.description import StudyDescription, read_one
    from longhaul.cli.reproduction_command import reproduce_runs, reproduce_study

    about = read_one(sources)
    if isinstance(about, StudyDescription):
        code = reproduce_study(
            sources[0],
            about,
            only=only,
            small=small,
            set_up_s=set_up_s,
            as_json=as_json,
            unused={"--metric": metrics, "--tolerance": tolerances, "--runs": runs},
        )
    else:
        code = reproduce_runs(
            sources,
            about,
            metrics=metrics,
            tolerances=tolerances,
            runs=runs,
            set_up_s=set_up_s,
            as_json=as_json,
            unused={"--only": only, "--small": small},
        )
    sys.exit(code)
