"""Latency and bandwidth over TCP sockets, without MPI."""

from dataclasses import asdict
from typing import Any

import click

from longhaul.workloads import socket_benchmark
from longhaul.workloads.commands.options import json_option
from longhaul.workloads.main import show
from longhaul.workloads.parsing import SIZE


@click.command(
    help="Latency and bandwidth of small messages over TCP sockets (as nttcp), without MPI.\n\n"
    "Start one end with --serve; the other names its host, and waits up to 10 seconds for it.\n\n"
    "\b\nlonghaul-workload sockets --serve --clients 2\nlonghaul-workload sockets b1 --message 512"
)
@click.argument("host", required=False)
@click.option("--serve", "serving", is_flag=True, help="Be the other end.")
@click.option("--clients", type=click.IntRange(0), default=0, help="Serve so many connections; 0: for ever.")
@click.option("--port", type=click.IntRange(1, 65_535), default=socket_benchmark.PORT, show_default=True)
@click.option("--message", type=SIZE, default=512, show_default=True, help="Bytes of a message.")
@click.option("--latencies", type=click.IntRange(1), default=1_000, show_default=True, help="Round trips.")
@click.option("--messages", type=click.IntRange(1), default=20_000, show_default=True, help="One way.")
@click.option("--coalesce", is_flag=True, help="Let the kernel put messages together (Nagle's algorithm).")
@click.option("--buffer", type=SIZE, help="The sender's socket buffer, else the system's.")
@json_option
def sockets(
    host: str | None,
    clients: int,
    port: int,
    message: int,
    latencies: int,
    messages: int,
    buffer: int | None,
    *,
    serving: bool,
    coalesce: bool,
    as_json: bool,
) -> None:
    """Serve, or measure and print. A measurement is two connections."""
    if serving == (host is not None):
        raise click.UsageError("name the host of the other end, or be it with --serve")
    if message < 1:
        raise click.UsageError("a message has a byte at least")
    if serving:
        socket_benchmark.serve(port, clients=clients)
        return
    assert host is not None
    latency = socket_benchmark.measure_latency(host, port, size=message, count=latencies)
    bandwidth = socket_benchmark.measure_bandwidth(
        host, port, size=message, count=messages, coalesce=coalesce, buffer=buffer
    )
    result = {"workload": "sockets", "latency": asdict(latency), "bandwidth": asdict(bandwidth)}
    show(result, as_json=as_json, table=_lines)


def _lines(result: Any) -> str:
    latency, bandwidth = result["latency"], result["bandwidth"]
    return "\n".join(
        (
            f"messages of {latency['size']} bytes",
            f"  half a round trip  {latency['median_us']:.1f} µs (median of {latency['count']};"
            f" {latency['least_us']:.1f} to {latency['most_us']:.1f})",
            f"  bandwidth          {bandwidth['megabits_per_s']:.2f} Mbit/s"
            f" ({bandwidth['count']} messages in {bandwidth['seconds']:.3f} s)",
        )
    )
