"""``longhaul study``: the studies of a checkout, their claims, and how to run them."""

import json
import sys
from pathlib import Path

import click

_directory = click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory of studies. Default: studies here or in the nearest directory above.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def study() -> None:
    """Studies: claims of papers and of Longhaul, measured and evaluated.

    A study is a directory with a program, a file claims.yaml, scenarios and results. Each of its claims has a
    rule that decides it, and one of five verdicts: reproduced, depends on a condition, not reproduced,
    undecided (a confidence interval includes the limit), not measured. Without --directory the studies are
    those of the directory studies here or in the nearest directory above.

    \b
    longhaul study list
    longhaul study show fitting
    longhaul study run fitting
    longhaul study run nemc --only simulated
    longhaul study draw nemc
    longhaul study list --directory ~/my-studies
    """


@study.command("list")
@_directory
@_json
def list_(directory: Path | None, as_json: bool) -> None:
    """List the studies: claims by verdict, those not measured included, and when they were measured."""
    from longhaul.cli.terminal.studies import print_studies
    from longhaul.studies.catalogue import find_directory, studies_in

    found = studies_in(find_directory(directory))
    if as_json:
        click.echo(json.dumps([each.as_json() for each in found], indent=1))
    else:
        print_studies(found)


@study.command()
@click.argument("name")
@_directory
@_json
def show(name: str, directory: Path | None, as_json: bool) -> None:
    """Show each claim of a study: rule, the paper's value, what was found, verdict, and assumptions.

    Every part has the command that measures it.

    \b
    longhaul study show three-clocks
    longhaul study show three-clocks --json
    """
    from longhaul.cli.terminal.studies import print_claims
    from longhaul.studies.catalogue import find_directory, pick

    (found,) = pick(find_directory(directory), [name], named=directory)
    if as_json:
        click.echo(json.dumps(found.as_full_json(), indent=1, ensure_ascii=False))
    else:
        print_claims(found)


@study.command(context_settings={"ignore_unknown_options": True})
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "every", is_flag=True, help="Run all studies, one after another.")
@click.option(
    "--only",
    multiple=True,
    metavar="PART",
    help="A part, or all live, simulated or virtual ones. Repeatable.",
)
@click.option("--rounds", type=click.IntRange(min=1), help="Repetitions, instead of each part's own number.")
@click.option("--small", is_flag=True, help="Run at a small size, to try it out; publish nothing.")
@click.option("--resume", is_flag=True, help="Keep what this commit has measured before an interruption.")
@_directory
def run(
    names: tuple[str, ...],
    every: bool,
    only: tuple[str, ...],
    rounds: int | None,
    small: bool,
    resume: bool,
    directory: Path | None,
) -> None:
    """Run studies and write their results, figures and pages.

    Results of the full size replace those in the study's directory; with --small or other --rounds they stay
    in runs/studies. A part that runs again replaces its own results alone. Each part begins with its number
    and with the time that is left, by the last time. A study's own options follow its name, after --:

    \b
    longhaul study run nemc --only simulated
    longhaul study run nemc --only simulated --small
    longhaul study run teragrid -- --help

    Exit codes: 0 everything was measured; 1 something could not be; 2 wrong usage; 130 interrupted.
    """
    from longhaul.cli.study_command import run_studies

    # What follows the names is the study's own.
    split = next((at for at, word in enumerate(names) if word.startswith("-")), len(names))
    code = run_studies(
        names[:split],
        every=every,
        only=only,
        rounds=rounds,
        small=small,
        resume=resume,
        directory=directory,
        own=names[split:],
    )
    sys.exit(code)


@study.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "every", is_flag=True, help="Draw the figures of all studies.")
@click.option(
    "--only",
    multiple=True,
    metavar="PART",
    help="A part, or all live, simulated or virtual ones. Repeatable.",
)
@_directory
def draw(names: tuple[str, ...], every: bool, only: tuple[str, ...], directory: Path | None) -> None:
    """Draw the figures of studies again from their published tables, and write their pages.

    Nothing is measured. The figures have the values of paper.yaml, the study's file of what its paper states.

    \b
    longhaul study draw nemc
    longhaul study draw nemc --only messages
    """
    from longhaul.cli.study_command import draw_studies

    sys.exit(draw_studies(names, every=every, only=only, directory=directory))
