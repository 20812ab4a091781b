"""A pair of veth devices on this machine, without a delay and, if its kernel has it, with netem."""

import sys
from pathlib import Path

from datagrams import LINGER_S

from longhaul.calibrate.direct import FAR_ADDRESS, over_veth
from longhaul.errors import LonghaulError

PROGRAM = Path(__file__).with_name("datagrams.py")
_PORT = 9000
_LIMIT_PACKETS = 100_000
"""Of netem: more than there are in any delay that is measured."""
# `inside` in the background would be a shell, which a signal to it ends instead of the sink.
_BODY = """{queue}
nsenter -t $far -n {python} {program} sink {address} {port} >sink &
sink=$!
until inside cat /proc/net/udp | grep -q ':{port:04X} '; do sleep 0.05; done
{python} {program} source {address} {port} {packets} {packets_per_s} >source
kill $sink
wait $sink
"""


def has_netem() -> bool:
    """Whether this machine's kernel has netem."""
    try:
        over_veth("tc qdisc add dev near root netem delay 1ms", lifetime_s=30)
    except LonghaulError:
        return False
    return True


def run(directory: Path, *, packets: int, packets_per_s: int, netem_delay_ns: int | None) -> None:
    """Send datagrams over the pair; ``source`` and ``sink`` in ``directory`` have what the programs printed.

    ``netem_delay_ns``: of netem on the sender's device; ``None``: without netem. Raises LonghaulError.
    """
    queue = ""
    if netem_delay_ns is not None:
        queue = f"tc qdisc add dev near root netem limit {_LIMIT_PACKETS} delay {netem_delay_ns / 1000:g}us"
    body = _BODY.format(
        queue=queue,
        address=FAR_ADDRESS,
        port=_PORT,
        python=sys.executable,
        program=PROGRAM,
        packets=packets,
        packets_per_s=packets_per_s,
    )
    over_veth(body, lifetime_s=packets / packets_per_s + LINGER_S + 60, cwd=directory)
