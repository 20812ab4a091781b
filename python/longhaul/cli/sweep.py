"""``longhaul sweep``: many variants and repetitions of one scenario."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longhaul.cli.options import kernel_option, memory_option, set_option

if TYPE_CHECKING:
    from longhaul.sweeps.trials import SweepClock


def _axes(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    axes: dict[str, str] = {}
    for value in values:
        name, equals, content = value.partition("=")
        if not equals or not name or not content:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE,VALUE; write for example cc=cubic,bbr")
        if name in axes:
            raise click.BadParameter(f"{name!r} is given twice; write {name}={axes[name]},{content}")
        axes[name] = content
    return axes


@click.command()
@click.argument("scenario", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@set_option
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUES",
    callback=_axes,
    help="Vary a parameter, or a key such as links.wan.loss, or links.wan.rtt, the round-trip time of a "
    "link; may be repeated.",
)
@click.option("--repeat", type=int, metavar="N", help="Number of seeds for each variant.")
@click.option(
    "--design",
    type=click.Choice(["grid", "random", "latin-hypercube"]),
    help="Design: every combination (grid), or --points drawn at random or as a Latin hypercube.",
)
@click.option("--points", type=int, metavar="N", help="Number of points that are drawn.")
@click.option(
    "--seeds",
    type=click.Choice(["paired", "independent"]),
    help="Seeds of a repetition: the same in all variants, or different ones.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="PATTERN",
    help="Metrics in the summary, for example flows.*.goodput; may be repeated.",
)
@click.option(
    "--until", metavar="RULE", help='Add seeds until this rule holds, for example "flows.bulk.goodput ±2%".'
)
@click.option(
    "--clock",
    type=click.Choice(["simulated", "virtual", "real"]),
    help="Simulated: the discrete-event simulator. Virtual: real programs on hosts that run a Linux of their "
    "own; see longhaul kernel. Real: real programs as by longhaul run, one run at a time on a machine. "
    "Default: simulated.",
)
@kernel_option
@click.option(
    "--workers",
    type=click.IntRange(1, 4096),
    metavar="N",
    help="Number of runs at the same time. Default: the number of CPUs; 1 on the real clock.",
)
@click.option(
    "--cluster",
    metavar="KIND|ADDRESS|FILE",
    help="Run on slurm, htcondor, pbs, sge, lsf, kubernetes, tcp://host:8786, or as a YAML file says.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Resume this interrupted sweep.",
)
@click.option("--share", metavar="K/N", help="With --resume: run this share, as one job of an array.")
@click.option(
    "--array",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Write job scripts for arrays of N jobs (Slurm, HTCondor), without running them.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print the number of runs and their estimated cost, without running them."
)
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Directory for run directories.",
)
@memory_option
@click.option("--no-report", is_flag=True, help="Do not write report.html.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of a table.")
def sweep(
    scenario: Path | None,
    settings: dict[str, str],
    axes: dict[str, str],
    repeat: int | None,
    design: str | None,
    points: int | None,
    seeds: str | None,
    metrics: tuple[str, ...],
    until: str | None,
    clock: "SweepClock | None",
    kernel: str | None,
    workers: int | None,
    cluster: str | None,
    resume: Path | None,
    share: str | None,
    array: int | None,
    dry_run: bool,
    runs: Path,
    memory_bytes: int | None,
    no_report: bool,
    as_json: bool,
) -> None:
    """Run SCENARIO for every combination of the axes' values, with several seeds each.

    Runs are simulated, or live on the virtual or the real clock. Axes come from the scenario's `sweep:`, or
    from --axis. Results stream to Parquet as runs end; what was killed goes on with --resume. A run that
    cannot be is recorded with its error, and the others go on. Exit codes: 0 good; 1 some runs failed;
    2 wrong scenario or usage; 3 this machine cannot; 130 interrupted.

    \b
    longhaul sweep scenario.yaml --axis cc=cubic,bbr --axis loss=0%,0.1%,1% --repeat 5
    longhaul sweep scenario.yaml --until "goodput ±2%" --dry-run
    longhaul sweep scenario.yaml --cluster slurm.yaml
    longhaul sweep scenario.yaml --clock virtual --axis kernel=6.6,6.12
    longhaul sweep scenario.yaml --clock real --repeat 5 --cluster slurm.yaml
    longhaul sweep --resume runs/NAME/latest-sweep
    """
    from longhaul.cli.sweep_command import Asked, run_command

    asked = Asked(
        scenario=scenario,
        settings=settings,
        axes=axes,
        repeat=repeat,
        design=design,
        points=points,
        seeds=seeds,
        metrics=metrics,
        until=until,
        clock=clock,
        kernel=kernel,
        workers=workers,
        cluster=cluster,
        resume=resume,
        share=share,
        array=array,
        dry_run=dry_run,
        runs=runs,
        report=not no_report,
        as_json=as_json,
        memory_bytes=memory_bytes,
    )
    sys.exit(run_command(asked, argv=sys.argv))
