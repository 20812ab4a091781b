"""``longhaul trace synthesise``: a trace from means and deviations."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import quantity
from longhaul.cli.traces.common import hand_over, link_option, out_options


def _share(_context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    from longhaul.scenario.units import Share, UnitError

    try:
        return None if value is None else float(Share.parse(value))
    except UnitError as error:
        raise click.BadParameter(str(error), param=parameter) from None


@click.command()
@click.option("--table", metavar="SET:KIND|FILE", help="Draw each link of a table; see below.")
@link_option
@quantity("Span", "--rtt", help="Mean of the round trip.")
@quantity("Span", "--rtt-sd", help="Its standard deviation; else 0.")
@quantity("Span", "--floor", help="No round trip is shorter; else 0.95 of the mean.")
@click.option(
    "--spikes", callback=_share, metavar="SHARE", help="Of samples with an exponential spike; else 0%."
)
@quantity("Rate", "--rate", help="Mean of the rate.")
@quantity("Rate", "--rate-sd", help="Its standard deviation, up to half the mean; else 0.")
@quantity("Span", "--period", default="1s", show_default=True, help="Between samples.")
@quantity("Span", "--duration", default="10min", show_default=True, help="Of the trace.")
@quantity("Span", "--correlation", help="Time after which the correlation is 1/e; else samples are alone.")
@click.option(
    "--balanced", is_flag=True, help="Fill the distribution evenly: short traces keep the mean, too."
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@out_options
def synthesise(out: Path | None, force: bool, **given: Any) -> None:
    """Draw a trace with a given mean, standard deviation and share of spikes.

    The round trip is a floor, a lognormal body and rare exponential spikes; the rate a normal, cut on both
    sides (docs/models/trace-synthesis.md). A --table is longcut:eventspace, or a CSV file with the columns
    src, dst, rtt_ms, and perhaps rtt_sd_ms, floor_ms, spikes, rate_mbit, rate_sd_mbit.

    \b
    longhaul trace synthesise --rtt 20ms --rtt-sd 3ms --rate 50Mbit --rate-sd 5Mbit --out wan.csv
    longhaul trace synthesise --rtt 12.7ms --rtt-sd 27.03ms --floor 6.75ms --spikes 3% --duration 1h
    longhaul trace synthesise --table longcut:eventspace --link benedict:psgw --seed 2 --out longcut.csv
    """
    from longhaul.scenario.traces.files import write_sidecar
    from longhaul.scenario.traces.ordering import draw, facts

    traces = draw(given)
    hand_over(traces, out=out, force=force)
    if out is not None:
        write_sidecar(out, facts(traces, given))
