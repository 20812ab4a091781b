"""``longhaul transfer generate``: generate random requests."""

from pathlib import Path

import click

from longhaul.cli.transfers.quantities import Unit
from longhaul.units.quantities import Rate, Span


@click.command()
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Seed of the requests."
)
@click.option(
    "--count", type=click.IntRange(min=1), default=100, show_default=True, help="Number of requests."
)
@click.option("--gap", type=Unit(Span), default="300s", show_default=True, help="Mean gap between releases.")
@click.option(
    "--points", type=click.IntRange(min=2), default=10, show_default=True, help="Number of access points."
)
@click.option(
    "--capacity",
    type=Unit(Rate),
    default="1Gbit",
    show_default=True,
    help="Rate of each access point in each direction.",
)
@click.option(
    "--max-rate",
    type=(Unit(Rate), Unit(Rate)),
    default=("10MB/s", "1GB/s"),
    show_default=True,
    metavar="LEAST MOST",
    help="Range of the requests' maximum rates (uniform).",
)
@click.option(
    "--slack",
    type=(float, float),
    default=(1.0, 4.0),
    show_default=True,
    metavar="LEAST MOST",
    help="Range of windows, as multiples of the transfer time at the maximum rate (uniform).",
)
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV, without the access points.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Output file. Default: print.")
def generate(
    seed: int,
    count: int,
    gap: Span,
    points: int,
    capacity: Rate,
    max_rate: tuple[Rate, Rate],
    slack: tuple[float, float],
    as_csv: bool,
    out: Path | None,
) -> None:
    """Generate random requests: Poisson releases, volumes of 10 GB to 1 TB, windows by a slack.

    As they are, most greatest rates are above the access points' 1 Gbit/s, so that seven in ten windows are
    too short for any plan; --max-rate 80Mbit 1Gbit makes all of them long enough.

    \b
    longhaul transfer generate --seed 1 --count 40 --max-rate 80Mbit 1Gbit --out requests.yaml
    longhaul transfer generate --count 10000 --gap 1s --csv --out requests.csv
    """
    from longhaul.transfers.plan import plan_data, random_requests

    workload = random_requests.Workload(
        count=count,
        gap_s=gap.ns / 1e9,
        points=points,
        point_bits_per_s=capacity.bits_per_s,
        least_bits_per_s=max_rate[0].bits_per_s,
        most_bits_per_s=max_rate[1].bits_per_s,
        least_slack=slack[0],
        most_slack=slack[1],
    )
    drawn, requests = random_requests.generate(workload, seed=seed)
    text = plan_data.as_csv(requests) if as_csv else plan_data.as_yaml(drawn, requests)
    with click.open_file(str(out or "-"), "w") as file:
        file.write(text)
