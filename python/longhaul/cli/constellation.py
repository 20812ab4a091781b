"""``longhaul constellation``: satellites and ground stations as a scenario."""

from datetime import UTC
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from longhaul.cli.topology import quantity, write_scenario

Places = dict[str, tuple[float, float]]


def _stations(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> Places:
    from longhaul.places import named

    found: Places = {}
    for value in values:
        name, _equals, place = value.partition("=")
        try:
            latitude, longitude = (float(each) for each in place.split(","))
        except ValueError:
            city = named(place)
            if city is None:
                what = "is not NAME=LATITUDE,LONGITUDE or NAME=CITY, such as paris=48.86,2.35 or nyc=New York"
                raise click.BadParameter(f'"{value}" {what}') from None
            latitude, longitude = city.latitude, city.longitude
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
            raise click.BadParameter(f'"{value}" is not on the Earth; write degrees, latitude first')
        if not name or name in found:
            raise click.BadParameter(f'"{value}" has no name of its own')
        found[name] = (latitude, longitude)
    return found


def _refuse_walker(context: click.Context) -> None:
    """Refuse parameters of orbits that the elements have."""
    for name in ("planes", "satellites", "inclination", "altitude", "phasing", "shape"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} is of Walker's constellations, and --tle has orbits of its own")


@click.command()
@click.option("--planes", default=72, show_default=True, help="Number of orbital planes.")
@click.option("--satellites", default=22, show_default=True, help="Number of satellites in each plane.")
@click.option("--inclination", default=53.0, show_default=True, help="Inclination of the planes, in degrees.")
@click.option("--altitude", default=550.0, show_default=True, help="Altitude over the mean Earth, in km.")
@click.option("--phasing", default=1, show_default=True, help="Walker's F, from 0 to planes - 1.")
@click.option(
    "--shape",
    type=click.Choice(["delta", "star"]),
    default="delta",
    show_default=True,
    help="Planes around the whole equator, or around half of it.",
)
@click.option(
    "--tle",
    type=click.Path(path_type=Path),
    help="File of two-line elements (TLE); its satellites take the place of planes.",
)
@click.option(
    "--at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ"]),
    help="When the scenario begins (UTC), with --tle. Default: the newest epoch of the file.",
)
@click.option(
    "--station",
    "stations",
    multiple=True,
    required=True,
    callback=_stations,
    metavar="NAME=PLACE",
    help="A ground station, in degrees or as a city, paris=48.86,2.35 or paris=Paris; two or more.",
)
@click.option("--elevation", default=25.0, show_default=True, help="Least angle above a station's horizon.")
@click.option("--no-isl", is_flag=True, help="Leave out links between satellites.")
@click.option(
    "--hosts", type=click.IntRange(1, 100), default=1, show_default=True, help="Hosts at each station."
)
@quantity("Span", "--duration", default="60s", show_default=True, help="Duration of the scenario.")
@quantity("Span", "--step", default="1s", show_default=True, help="Time between positions.")
@quantity("Rate", "--space-rate", default="10Gbit", show_default=True, help="Rate between satellites.")
@quantity("Rate", "--ground-rate", default="1Gbit", show_default=True, help="Rate to ground stations.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Output file of the scenario; its delays are in NAME-delays.csv beside it.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.pass_context
def constellation(context: click.Context, /, out: Path, force: bool, **given: Any) -> None:
    """Write a satellite constellation as a scenario, and print round trips over time.

    Satellites are routers, delays of links follow a trace, and links of ground stations join and leave.

    \b
    longhaul constellation --station london=51.51,-0.13 --station nyc=40.71,-74.01 --out leo.yaml
    longhaul constellation --tle starlink.txt --no-isl --station london=51.51,-0.13 \\
      --station paris=48.86,2.35 --out starlink.yaml
    longhaul sim leo.yaml
    """
    from longhaul.scenario.expand.topologies.constellation import describe, from_options

    if given["tle"] is not None:
        _refuse_walker(context)
        given["at"] = given["at"] and given["at"].replace(tzinfo=UTC)
    written, found = from_options(out.stem, given)
    delays = out.with_name(f"{out.stem}-delays.csv")
    write_scenario(out, written.scenario, inputs={delays: written.delays}, force=force)
    for warning in written.warnings:
        click.echo(f"warning: {warning}", err=True)
    for line in describe(found):
        click.echo(line)
