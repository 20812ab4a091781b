"""``longhaul capture``: the packets of a link of a running network."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from longhaul.cli.options import size_option
from longhaul.cli.session import name_option

if TYPE_CHECKING:
    from longhaul.run.link_captures import LinkCapture


@click.command()
@name_option
@click.argument("link")
@click.option(
    "--at",
    "node",
    metavar="NODE",
    help="End of LINK at which packets are shown. Default: its first endpoint.",
)
@click.option(
    "-w",
    "--write",
    "target",
    metavar="FILE",
    help="Write the packets to FILE as pcapng instead; to standard output if it is -.",
)
@click.option("-c", "--count", type=click.IntRange(min=1), metavar="N", help="End after N packets.")
@size_option("--snaplen", default="256B", text="Bytes kept of each packet.")
@size_option(
    "--limit",
    default="256MiB",
    text="Size of the link's files in the run directory at which the capture ends.",
)
def capture(
    name: str | None,
    link: str,
    node: str | None,
    target: str | None,
    count: int | None,
    snaplen: int,
    limit: int,
) -> None:
    """Show the packets of LINK of a running network as they pass, or write them as pcapng.

    Each line has the time of the run in seconds, `onto` for a packet that goes onto the link at NODE or `off`
    for one that leaves it there, both addresses with their ports, the protocol, what its header says, and the
    length of the packet. Until the end, which is Ctrl-C, both ends of the link are captured into captures/ of
    the run directory.

    \b
    longhaul capture atlantic
    longhaul capture atlantic --at nyc -c 100
    longhaul capture atlantic -w - | wireshark -k -i -
    longhaul capture atlantic -w - | tcpdump -n -r - 'tcp[tcpflags] & tcp-syn != 0'
    """
    from longhaul.run import link_captures, signals, sockets
    from longhaul.units.text import bytes_text

    begun = link_captures.begin(sockets.find(name), link, node=node, snaplen_bytes=snaplen, limit_bytes=limit)
    at, shown = node or begun.nodes[0], 0
    try:
        path = begun.path(at)
        what = "capturing" if begun.is_new else "joining the capture of"
        kept = bytes_text(begun.snaplen_bytes)
        click.echo(f"{what} {link} at {at}, {kept} of each packet", err=True)
        with _writer(begun, target) as write, suppress(KeyboardInterrupt):
            for head, block in begun.follow(at):
                write(head, block)
                shown += 1
                if shown == count:
                    break
            else:
                if begun.is_running:
                    click.echo(f"the capture of {link} has ended at its limit", err=True)
    except BrokenPipeError:
        # Whoever read the packets needs no more, and Python would report the same again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        # timeout(1) sends its signal twice.
        signals.disregard()
        begun.end()
    click.echo(f"{shown} packets; captured: {path}", err=True)


Write = Callable[[bytes, bytes], None]


@contextmanager
def _writer(begun: "LinkCapture", target: str | None) -> Iterator[Write]:
    """Writes each packet, given as the head of a capture and the packet's block."""
    if target is None:
        yield _lines(begun)
    elif target == "-":
        yield _pcapng(sys.stdout.buffer)
    else:
        from longhaul.storage import replacing, writing

        with writing(Path(target)), replacing(Path(target)) as file:
            yield _pcapng(file)


def _pcapng(out: BinaryIO) -> Write:
    has_head = False

    def write(head: bytes, block: bytes) -> None:
        nonlocal has_head
        out.write(block if has_head else head + block)
        out.flush()
        has_head = True

    return write


def _lines(begun: "LinkCapture") -> Write:
    from longhaul.results.growing_captures import packet_of
    from longhaul.results.packet_headers import Dissector
    from longhaul.run.link_captures import host_names

    dissector = Dissector(host_names(begun.plan))

    def write(_head: bytes, block: bytes) -> None:
        packet = packet_of(block)
        headers = dissector.read(packet.content, is_frame=packet.is_frame, length=packet.length)
        seconds, nanoseconds = divmod(packet.unix_ns - begun.unix_start_ns, 10**9)
        click.echo(
            f"{seconds}.{nanoseconds:09d} {'off ' if packet.leaves else 'onto'} {headers.source} > "
            f"{headers.destination} {headers.protocol} {headers.info} ({packet.length} B)"
        )

    return write
