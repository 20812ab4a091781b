"""``longhaul compare``: a run against what it should be."""

import sys
from pathlib import Path

import click


@click.command()
@click.option(
    "--replay",
    "directory",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    required=True,
    metavar="RUN",
    help="Feed what entered the network of this live run to the model again.",
)
def compare(directory: Path) -> None:
    """Check a live run against the model it ran.

    The replay takes every packet that a host sent and every change, at the instant of the live run, and
    compares every departure: its order, its due time to the picosecond, its fate, its marks and its damage.

    Exit codes: 0 all the same; 1 they differ; 2 the run kept no journal.

    \b
    longhaul run scenarios/every-law.yaml --journal
    longhaul compare --replay runs/every-law/latest
    """
    from longhaul.run.replay import replay

    found = replay(directory)
    changes = f" and {found.changes} changes" if found.changes else ""
    click.echo(f"replayed {found.injected} packets{changes} of {directory}")
    if found.difference is None:
        others = found.equal - found.delivered
        click.echo(f"all {found.equal} departures are the same, to the picosecond:")
        click.echo(f"  {found.delivered} packets delivered, {others} ended otherwise")
        return
    recorded, replayed = (each or "nothing more" for each in found.difference)
    click.echo(f"the same for {found.equal} departures, then they differ:")
    click.echo(f"  recorded  {recorded}\n  replayed  {replayed}")
    click.echo("this is a defect of Longhaul, or plan.json was changed: report it")
    sys.exit(1)
