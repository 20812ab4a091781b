"""``longhaul trace stitch``: join traces."""

from pathlib import Path

import click

from longhaul.cli.traces.common import hand_over, out_options, warn


@click.command()
@click.argument("traces", metavar="[SOURCE:DESTINATION=]TRACE...", nargs=-1, required=True)
@out_options
def stitch(traces: tuple[str, ...], out: Path | None, force: bool) -> None:
    """Join each TRACE: of one link end to end, in the order given; of different links into one file.

    \b
    longhaul trace stitch monday.csv tuesday.csv --out both.csv
    longhaul trace stitch par:nyc=there.csv nyc:par=back.csv --out wan.csv
    """
    from longhaul.scenario.traces.files import read_named
    from longhaul.scenario.traces.reshaping import stitched

    readings = [read_named(each) for each in traces]
    for reading in readings:
        warn(reading.warnings)
    hand_over(stitched([trace for each in readings for trace in each.traces]), out=out, force=force)
