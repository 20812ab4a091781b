"""``longhaul compare``: runs against runs, or a live run against the model it ran."""

import json
import sys
from pathlib import Path

import click

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

_DIRECTORY = click.Path(path_type=Path, file_okay=False, exists=True)


@click.command()
@click.argument("runs", nargs=-1, type=_DIRECTORY)
@click.option(
    "--metric",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help='Compare these metrics, such as "links.*.loss"; may be repeated.',
)
@click.option(
    "--flow",
    metavar="NAME",
    help="Also print the share of the other flows' goodput that this flow takes in the last of RUNS, "
    "compared with the first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option(
    "--replay",
    "replayed",
    type=_DIRECTORY,
    metavar="RUN",
    help="Replay the packets and changes of this live run through the model.",
)
def compare(
    runs: tuple[Path, ...],
    patterns: tuple[str, ...],
    flow: str | None,
    as_json: bool,
    replayed: Path | None,
) -> None:
    """Compare runs, or check a live run against the model it ran.

    Each of RUNS is a run directory, or one with several, which must be repetitions: they differ in nothing
    but the seed. Then means have 95 % confidence intervals, and statistically significant differences are
    marked. Of a single directory, live, mixed and simulated runs are compared, and those of each scenario.
    Of two runs on the virtual clock, the first difference of their packets is named, too.

    With --replay, every packet that a host sent and every change goes through the model again at the instant
    of the live run, and every departure is compared: its order, its due time to the picosecond, its fate, its
    marks and its damage. Exit codes: 0 all the same; 1 they differ; 2 the run kept no journal.

    \b
    longhaul compare runs/atlantic-cubic runs/atlantic-bbr
    longhaul compare runs/two-clusters --metric "flows.*.goodput"
    longhaul compare runs/sixth-reno runs/sixth-scalable --flow sixth
    longhaul compare --replay runs/every-model/latest-live
    """
    if replayed is not None:
        sys.exit(_replay(replayed))
    from longhaul.cli.terminal.comparison import print_comparison
    from longhaul.report.comparison import as_plain
    from longhaul.results.comparison import compare_cross_traffic, compare_groups, compared_groups, find_all
    from longhaul.results.divergence import first_difference

    groups = find_all(runs)
    rows = compare_groups(groups, patterns)
    if not rows:
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            "the runs have no metric in common",
            remedy='see the metrics in summary.json, and name some: --metric "links.*"',
            exit_code=2,
        )
    stolen = compare_cross_traffic(groups, flow) if flow else None
    names = compared_groups(groups)
    singles = [group.runs[0] for group in groups if len(group.runs) == 1]
    divergence = first_difference(*singles) if len(singles) == len(groups) == 2 else None
    if as_json:
        plain = as_plain(names, rows, stolen)
        if divergence:
            plain["first_difference"] = divergence.as_json()
        click.echo(json.dumps(plain, indent=1))
    else:
        print_comparison(names, rows, stolen, divergence)


def _replay(directory: Path) -> int:
    from longhaul.run.replay import replay

    found = replay(directory)
    changes = f" and {found.changes} changes" if found.changes else ""
    click.echo(f"replayed {found.injected} packets{changes} of {directory}")
    if found.difference is None:
        others = found.equal - found.delivered - found.crossed
        click.echo(f"all {found.equal} departures are the same, to the picosecond:")
        click.echo(f"  {found.delivered} packets delivered, {others} ended otherwise")
        if found.crossed:
            click.echo(f"  {found.crossed} times a packet went to another engine")
        return 0
    recorded, again = (each or "nothing more" for each in found.difference)
    click.echo(f"the same for {found.equal} departures, then they differ:")
    click.echo(f"  recorded  {recorded}\n  replayed  {again}")
    click.echo("this is a defect of Longhaul, or plan.json was changed: report it")
    return 1
