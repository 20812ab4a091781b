"""``longhaul trace collect``: measure a real link over time, as an ordinary user."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import quantity

_out = click.Path(path_type=Path, dir_okay=False)
_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.option(
    "--serve", metavar="ADDRESS:PORT", help="Serve probes at this TCP and UDP port; port 0 is any free port."
)
@click.option("--to", metavar="HOST:PORT", help="Measure to this server.")
@click.option("--clique", metavar="HOST:PORT,...", help="Measure in turn with these members; needs --serve.")
@click.option(
    "--as", "me", metavar="HOST:PORT", help="This member of the clique. Default: the address of --serve."
)
@click.option(
    "--from-iperf3", "iperf3", type=_file, help="Convert this output of iperf3 --json instead of measuring."
)
@click.option(
    "--style",
    type=click.Choice(["nws", "eventspace", "ping", "sockets"]),
    default="nws",
    show_default=True,
    help="Probe style; see below.",
)
@click.option("-o", "--out", type=_out, help="Output file, CSV; its settings go to a .json file beside it.")
@quantity("Span", "--period", help="Time between probes. [nws: 60s, eventspace: 0s, others: 1s]")
@quantity("Span", "--duration", help="Duration of the measurement. Default: until Ctrl-C.")
@click.option("--count", type=click.IntRange(1), help="Number of probes. Default: until Ctrl-C.")
@click.option("--both", is_flag=True, help="Measure both directions, in turn: a trace with two links.")
@click.option(
    "--token-file", type=_file, help="File with a shared secret; a peer with another secret is refused."
)
@click.option("--over", type=click.Choice(["udp", "tcp", "icmp"]), help="Protocol of style ping. [udp]")
@click.option(
    "--latency-bytes", type=int, help="Size of the small message in bytes. [nws: 4, eventspace: 8, ping: 64]"
)
@click.option(
    "--message-bytes", type=int, help="Size of the large message in bytes. [nws: 16384, eventspace: 32768]"
)
@click.option("--messages", type=int, help="Number of large messages. [nws: 4, eventspace: 2]")
@click.option("--buffer-bytes", type=int, help="Socket buffers of style nws in bytes. [32768]")
@click.option("--nagle", is_flag=True, help="Keep Nagle's algorithm: style eventspace without TCP_NODELAY.")
@click.option(
    "--less-latency", is_flag=True, help="Subtract one latency from the time, for rates of style eventspace."
)
@click.option(
    "--cc", "congestion_control", metavar="NAME", help="Congestion-control algorithm. Default: the system's."
)
@click.option("--source-name", help="Name of this end in the trace. Default: the host name.")
@click.option("--target-name", help="Name of the other end in the trace. Default: the host of --to.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def collect(**given: Any) -> None:
    """Collect a trace of the link between this host and another: latency and bandwidth over time.

    One end serves, the other measures and writes; --both measures the way back as well, though only this end
    connects. What fails is a row with empty values. Ctrl-C ends it; rows so far are whole.

    \b
    nws         4 bytes and their answer; 4 x 16 KiB by 32 KiB buffers until the
                receiver closes: slow start and small windows are in the rate
    eventspace  8 bytes, then 2 x 32 KiB, each answered before the next, all the
                time: one round trip is in each rate (--less-latency takes it out)
    ping        small pings: latency only; --over icmp needs no server
    sockets     a connection that never stops sending, and what TCP says of it:
                its own queue is in the latency

    \b
    longhaul trace collect --serve 0.0.0.0:7000 --token-file secret
    longhaul trace collect --to gw.example.org:7000 --token-file secret -o way.csv
    longhaul trace collect --to gw:7000 --style eventspace --duration 10min --both -o way.csv
    longhaul trace collect --serve a:7000 --clique a:7000,b:7000,c:7000 -o a.csv
    longhaul trace collect --from-iperf3 report.json -o way.csv
    """
    from longhaul.cli.traces.collect_command import carry_out

    carry_out(given, say=click.echo, tell=lambda line: click.echo(line, err=True))
