"""``longhaul import``: convert a topology to a scenario."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import hand_over, out_options, quantity


@click.command("import")
@click.argument("source", metavar="FILE|NAME", type=click.Path(path_type=Path))
@out_options
@click.option("--index", type=click.FloatRange(1, 10), help="Group index of the fibre. Default: 1.468.")
@click.option(
    "--route-factor",
    type=click.FloatRange(1, 10),
    help="Ratio of fibre length to distance. Default: 1.5, from 1200 km on 1.25.",
)
@quantity("Span", "--default-delay", help="One-way delay of links to places without coordinates.")
@quantity("Rate", "--rate", help="Rate of links without one in the file. Default: unlimited.")
@quantity("Rate", "--capacity-unit", help="Rate of a capacity of 1 in SNDlib. Default: 1Mbit.")
@click.option(
    "--demands",
    type=click.FloatRange(0, 1e6),
    help="Add the demands of SNDlib, multiplied by this factor, as simulated flows.",
)
@click.option("--hosts", type=click.IntRange(0, 1000), help="Hosts at each site. Default: 1.")
@quantity("Span", "--host-delay", help="One-way delay between a host and its site. Default: 50us.")
@quantity("Rate", "--host-rate", help="Of each host; else 10Gbit.")
@click.option("--largest-part", is_flag=True, default=None, help="Leave out what is not connected to it.")
@click.option(
    "--loss", metavar="PRESET", help="Of teragrid: teragrid-literal-seconds, teragrid-busy-10g, none."
)
@click.option("--cross", metavar="KIND", help="Of teragrid: shared-sink or literal; else none.")
@click.option("--queue", metavar="KIND", help="Of teragrid: long or short.")
@quantity("Span", "--duration", help="Of teragrid; else 1000s.")
@click.option(
    "--topo",
    metavar="NAME,...",
    help="Of mininet: minimal, single,K, linear,K,N, tree,DEPTH,FANOUT or torus,X,Y; or of a Python file.",
)
@click.option(
    "--link", metavar="KIND,...", help="Of mininet: every link, such as tc,bw=10,delay=10ms,loss=1."
)
@click.option(
    "--netem",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Of containerlab: a script with `containerlab tools netem set` commands.",
)
@click.option(
    "--containers",
    type=click.Choice(["docker", "podman"]),
    help="Of docker-compose and containerlab: hosts are the containers that they start.",
)
@click.option("--execute", is_flag=True, default=None, help="Execute a Python file of Mininet, as this user.")
def import_(source: Path, out: Path | None, force: bool, **given: Any) -> None:
    """Convert a topology to a scenario: a FILE or a built-in NAME.

    \b
    Files: GraphML (Topology Zoo), SNDlib: sites on a map; delays by the great-circle distance.
           containerlab, netlab, docker-compose (YAML), Kollaps (XML): nodes, links, commands, events.
           Mininet (Python): a class of Topo. The file is executed as you, with --execute.
    Names: mininet with --topo and --link, as mn has them.
           teragrid: San Diego to Purdue in 2007, with its losses and cross traffic.

    Each number of a map has a comment on where it is from. What a scenario cannot have of a lab is listed at
    its top and on standard error, with the line of the file.

    \b
    longhaul import Abilene.graphml --out abilene.yaml
    longhaul import polska.txt --capacity-unit 1Mbit --demands 0.1 --out polska.yaml
    longhaul import lab.clab.yml --netem impair.sh --out lab.yaml
    longhaul import docker-compose.yml --containers docker --out ocean.yaml
    longhaul import mininet --topo tree,2,3 --link tc,bw=10,delay=10ms --out tree.yaml
    """
    from longhaul.importers.importing import import_source

    made = import_source(source, {name: value for name, value in given.items() if value is not None})
    hand_over(made.text, made.warnings, out=out, force=force)
