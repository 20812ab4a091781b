"""``longhaul trace collect``: measure a real link over time, from its two ends, as an ordinary user."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import quantity

_out = click.Path(path_type=Path, dir_okay=False)
_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.option("--serve", metavar="ADDRESS:PORT", help="Answer probes at one port, TCP and UDP; 0: any.")
@click.option("--to", metavar="HOST:PORT", help="Measure to a server.")
@click.option("--clique", metavar="HOST:PORT,...", help="Members that measure in turn; needs --serve.")
@click.option("--as", "me", metavar="HOST:PORT", help="Which member of the clique this is; else --serve's.")
@click.option("--from-iperf3", "iperf3", type=_file, help="Read what iperf3 --json printed instead.")
@click.option(
    "--style",
    type=click.Choice(["nws", "eventspace", "ping", "sockets"]),
    default="nws",
    show_default=True,
    help="How to measure; see below.",
)
@click.option("-o", "--out", type=_out, help="The trace, CSV; what was measured how goes beside it, .json.")
@quantity("Span", "--period", help="From probe to probe. [nws: 60s, eventspace: 0s, else 1s]")
@quantity("Span", "--duration", help="How long; else until Ctrl-C.")
@click.option("--count", type=click.IntRange(1), help="How many probes; else until Ctrl-C.")
@click.option("--both", is_flag=True, help="The server measures, too, in turn with this end: two links.")
@click.option("--token-file", type=_file, help="A shared secret: who has another one is refused.")
@click.option(
    "--over", type=click.Choice(["udp", "tcp", "icmp"]), help="Ping by datagrams, TCP, or ICMP. [udp]"
)
@click.option("--latency-bytes", type=int, help="The small message. [nws: 4, eventspace: 8, ping: 64]")
@click.option("--message-bytes", type=int, help="The large one. [nws: 16384, eventspace: 32768]")
@click.option("--messages", type=int, help="How many large ones. [nws: 4, eventspace: 2]")
@click.option("--buffer-bytes", type=int, help="Socket buffers of nws. [32768]")
@click.option("--nagle", is_flag=True, help="Leave Nagle's algorithm on: eventspace without TCP_NODELAY.")
@click.option("--less-latency", is_flag=True, help="Rates of eventspace from the time less one latency.")
@click.option("--cc", "congestion_control", metavar="NAME", help="Congestion control; else the system's.")
@click.option("--source-name", help="How this end is called in the trace; else the host's name.")
@click.option("--target-name", help="How the other end is called; else as in --to.")
@click.option("--force", is_flag=True, help="Write over files that are there.")
def collect(**given: Any) -> None:
    """Collect a trace of the link between this host and another: latency and bandwidth over time.

    One end serves, the other measures and writes; --both measures the way back as well, though only this end
    connects. What fails is a row with empty values. Ctrl-C ends it; rows so far are whole.

    \b
    nws         4 bytes and their answer; 4 x 16 KiB by 32 KiB buffers until the
                receiver closes: slow start and small windows are in the rate
    eventspace  8 bytes, then 2 x 32 KiB, each answered before the next, all the
                time: one round trip is in each rate (--less-latency takes it out)
    ping        small echoes: latency only; --over icmp needs no server
    sockets     a connection that never stops sending, and what TCP says of it:
                its own queue is in the latency

    \b
    longhaul trace collect --serve 0.0.0.0:7000 --token-file secret
    longhaul trace collect --to gw.example.org:7000 --token-file secret -o way.csv
    longhaul trace collect --to gw:7000 --style eventspace --duration 10min --both -o way.csv
    longhaul trace collect --serve a:7000 --clique a:7000,b:7000,c:7000 -o a.csv
    longhaul trace collect --from-iperf3 report.json -o way.csv
    """
    from longhaul.measure.collecting.command import carry_out

    carry_out(given, say=click.echo, tell=lambda line: click.echo(line, err=True))
