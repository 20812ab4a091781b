"""A pair of veth devices on this machine, without a delay and, if its kernel has it, with netem."""

import os
import subprocess
import sys
from pathlib import Path

from datagrams import LINGER_S

from longhaul.subprocesses import program, trusted_path

PROGRAM = Path(__file__).with_name("datagrams.py")
_ADDRESS, _PORT = "10.199.0.2", 9000
_LIMIT_PACKETS = 100_000
"""Of netem: more than there are in any delay that is measured."""
_SCRIPT = """
set -e
unshare -n sleep {lifetime} &
far=$!
trap 'kill $far' EXIT
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link add near type veth peer name far netns $far
ip addr add 10.199.0.1/30 dev near
ip link set near up
inside() {{ nsenter -t $far -n "$@"; }}
inside ip addr add {address}/30 dev far
inside ip link set far up
{queue}
nsenter -t $far -n {python} {program} sink {address} {port} >sink &
sink=$!
until inside cat /proc/net/udp | grep -q ':{port:04X} '; do sleep 0.05; done
{python} {program} source {address} {port} {packets} {packets_per_s} >source
kill $sink
wait $sink
"""


def has_netem() -> bool:
    """Whether this machine's kernel has netem."""
    return _in_namespace("tc qdisc add dev lo root netem delay 1ms", timeout_s=30).returncode == 0


def run(directory: Path, *, packets: int, packets_per_s: int, netem_delay_ns: int | None) -> None:
    """Send datagrams over the pair; ``source`` and ``sink`` in ``directory`` have what the programs printed.

    ``netem_delay_ns``: of netem on the sender's device, which has none if left out.
    """
    queue = ""
    if netem_delay_ns is not None:
        queue = f"tc qdisc add dev near root netem limit {_LIMIT_PACKETS} delay {netem_delay_ns / 1000:g}us"
    lifetime_s = packets / packets_per_s + LINGER_S + 60
    done = _in_namespace(
        _SCRIPT.format(
            lifetime=round(lifetime_s),
            address=_ADDRESS,
            port=_PORT,
            queue=queue,
            python=sys.executable,
            program=PROGRAM,
            packets=packets,
            packets_per_s=packets_per_s,
        ),
        timeout_s=lifetime_s + 30,
        cwd=directory,
    )
    if done.returncode:
        raise SystemExit(f"a pair of veth devices: {done.stderr.strip() or done.returncode}")


def _in_namespace(
    script: str, *, timeout_s: float, cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a shell script in a network namespace of its own, which ends with it."""
    unshare = [program("unshare", package="util-linux"), "-n" if os.geteuid() == 0 else "-rn"]
    return subprocess.run(
        [*unshare, program("bash"), "-c", script],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        cwd=cwd,
        env={"PATH": trusted_path(), "LC_ALL": "C"},
    )
