"""The baseline without an emulator: a veth pair between two namespaces.

Everything happens in namespaces that a child process makes and that end with it, so nothing is
left behind and nothing of the machine's own network is touched.
"""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.subprocesses import find_program, program, trusted_path

FAR_ADDRESS = "10.199.0.2"
"""The address of the far end of the pair."""
_TIME = re.compile(r"time=([\d.]+) ms")

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
inside ip addr add {far_address}/30 dev far
inside ip link set far up
inside ip link set lo up
# As in hosts: a connection that begins under a machine's BBR is paced to its end.
setting=/proc/sys/net/ipv4/tcp_congestion_control
{{ echo cubic >$setting || echo reno >$setting; }} 2>/dev/null || true
{body}
"""


def direct_ping(*, count: int = 300, interval_s: float = 0.005) -> list[float]:
    """Round-trip times over a direct veth, in seconds."""
    output = over_veth(f"ping -c {count} -i {interval_s:g} {FAR_ADDRESS}", lifetime_s=count * interval_s + 30)
    return [float(text) / 1e3 for text in _TIME.findall(output)]


def direct_tcp(*, seconds: int = 5, congestion_control: str = "cubic", streams: int = 1) -> float:
    """Goodput of iperf3 over a direct veth, in bit/s."""
    body = (
        "inside iperf3 -s -1 >/dev/null &\n"
        # 1451 is the port, 5201, in the kernel's own table of sockets.
        "until inside cat /proc/net/tcp6 | grep -q ':1451 '; do sleep 0.05; done\n"
        f"iperf3 -c {FAR_ADDRESS} -t {seconds} -C {congestion_control} -P {streams} -J"
    )
    output = over_veth(body, lifetime_s=seconds + 30)
    report = json.loads(output)
    if "error" in report:
        raise LonghaulError(
            Code.MEASUREMENT_FAILED, f"iperf3 over a direct veth: {report['error']}", exit_code=3
        )
    return float(report["end"]["sum_received"]["bits_per_second"])


def over_veth(body: str, *, lifetime_s: float, cwd: Path | None = None) -> str:
    """Run shell commands at the near end of a veth pair, device ``near``; returns what they print.

    ``inside COMMAND`` runs a command at the far end, device ``far`` with :data:`FAR_ADDRESS`, whose namespace
    is that of process ``$far``. ``lifetime_s``: how long the pair exists at most. Raises LonghaulError if a
    command fails.
    """
    _require(["unshare", "nsenter", "ip", "bash"])
    unshare = [program("unshare"), "-n" if os.geteuid() == 0 else "-rn"]
    script = _SCRIPT.format(lifetime=int(lifetime_s) + 1, far_address=FAR_ADDRESS, body=body)
    done = subprocess.run(
        [*unshare, program("bash"), "-c", script],
        capture_output=True,
        text=True,
        timeout=lifetime_s + 30,
        check=False,
        cwd=cwd,
        env={"PATH": trusted_path(), "LC_ALL": "C"},
    )
    if done.returncode != 0:
        detail = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise LonghaulError(
            Code.MACHINE_UNABLE,
            f"cannot measure a direct veth: {detail[-1] if detail else done.returncode}",
            remedy="longhaul doctor",
            exit_code=3,
        )
    return done.stdout


def _require(commands: Sequence[str]) -> None:
    missing = [command for command in commands if find_program(command) is None]
    if missing:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"{', '.join(missing)} not found",
            remedy="sudo apt-get install util-linux iproute2",
            exit_code=3,
        )
