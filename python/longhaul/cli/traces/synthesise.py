"""``longhaul trace synthesise``: a trace from means and standard deviations."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import quantity
from longhaul.cli.traces.common import hand_over, link_option, out_options


def _share(_context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    from longhaul.units.quantities import Share, UnitError

    try:
        return None if value is None else float(Share.parse(value))
    except UnitError as error:
        raise click.BadParameter(str(error), param=parameter) from None


@click.command()
@click.option("--table", metavar="SET:KIND|FILE", help="Draw each link of a table; see below.")
@link_option
@quantity("Span", "--rtt", help="Mean round-trip time, for example 40ms.")
@quantity("Span", "--rtt-sd", help="Standard deviation of the round-trip time. Default: 0.")
@quantity("Span", "--floor", help="Least round-trip time. Default: 0.95 of the mean.")
@click.option(
    "--spikes",
    callback=_share,
    metavar="SHARE",
    help="Share of samples with an exponential spike. Default: 0%.",
)
@quantity("Rate", "--rate", help="Mean rate, for example 100Mbit.")
@quantity("Rate", "--rate-sd", help="Standard deviation of the rate, at most half the mean. Default: 0.")
@quantity("Span", "--period", default="1s", show_default=True, help="Time between samples.")
@quantity("Span", "--duration", default="10min", show_default=True, help="Duration of the trace.")
@quantity(
    "Span", "--correlation", help="Time after which the correlation is 1/e. Default: independent samples."
)
@click.option(
    "--balanced",
    is_flag=True,
    help="Use evenly spaced quantiles, so that short traces have the mean exactly.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True, help="Seed of the trace."
)
@out_options
def synthesise(out: Path | None, force: bool, **given: Any) -> None:
    """Synthesise a trace with a given mean, standard deviation and share of spikes.

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
