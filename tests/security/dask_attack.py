"""A sweep on a cluster under way, and what a process without the cluster's certificate tries."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .conftest import LONGHAUL

SCENARIO = """
version: 1
name: pair
duration: 60s
nodes:
  a: {kind: host}
  b: {kind: host}
links:
  wire: {endpoints: [a, b], delay: 2ms, rate: 1Gbit}
traffic:
  bulk: {kind: tcp, from: a, to: b}
"""

# What an attacker runs: try at each place what a Dask client does, without the secret.
ATTACK = """
import asyncio, os, ssl, sys
from distributed import Client
from distributed.core import connect
from distributed.security import Security

def plain():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return {"ssl_context": context}

MEANS = (("tcp", {}), ("tls", plain()), ("tls", Security.temporary().get_connection_args("client")))

async def attack(address, means):
    scheme, arguments = means
    try:
        comm = await asyncio.wait_for(connect(f"{scheme}://{address}", timeout=3, **arguments), 6)
        await asyncio.wait_for(comm.write({"op": "identity", "reply": True}), 3)
        told = await asyncio.wait_for(comm.read(), 3)
    except BaseException as error:
        return f"refused {scheme} {type(error).__name__}"
    if scheme == "tcp" and told["type"] == "Scheduler":
        async with Client(f"tcp://{address}", asynchronous=True, timeout=10) as client:
            return f"ran as {await client.submit(os.getuid)}"
    return f"answered {scheme} {told}"

async def main():
    return await asyncio.gather(*(attack(address, each) for address in sys.argv[1:] for each in MEANS))

print("\\n".join(asyncio.run(main())))
"""


def family(pid: int) -> set[int]:
    """A process and all that it has started, and those have."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = set(), [pid]
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting += parents.get(each, [])
    return found


def listening(pids: set[int]) -> set[tuple[str, int]]:
    """Addresses and ports at which the processes accept connections over IP."""
    sockets = set()
    for pid in pids:
        try:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                sockets.add(os.readlink(entry))
        except OSError:
            continue
    found = set()
    for table, family_ in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                host, port = fields[1].split(":")
                words = [int(host[each : each + 8], 16) for each in range(0, len(host), 8)]
                raw = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
                found.add((socket.inet_ntop(family_, raw), int(port, 16)))
    return found


@contextmanager
def sweeping(
    work: Path, environment: dict[str, str], cluster: str, *, repeat: int = 2000
) -> Iterator[subprocess.Popen[str]]:
    """A sweep that is under way: some of its parts are there, and most are not."""
    (work / "pair.yaml").write_text(SCENARIO)
    process = subprocess.Popen(
        [
            LONGHAUL,
            "sweep",
            "pair.yaml",
            "--axis",
            "seed=1",
            "--repeat",
            str(repeat),
            "--cluster",
            cluster,
            "--no-report",
        ],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        deadline_s = time.monotonic() + 120
        while not any(work.glob("runs/pair/latest/parts/*.parquet")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline_s, "no part in two minutes"
            time.sleep(0.1)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()


def attack(addresses: set[tuple[str, int]]) -> list[str]:
    words = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in addresses]
    done = subprocess.run(
        [sys.executable, "-I", "-c", ATTACK, *words], capture_output=True, text=True, timeout=100, check=False
    )
    return done.stdout.splitlines()


def http(host: str, port: int) -> bytes:
    """The first line that is answered to a request for the dashboard."""
    with socket.create_connection((host, port), timeout=5) as stream:
        stream.settimeout(5)
        stream.sendall(b"GET /status HTTP/1.0\r\n\r\n")
        try:
            return stream.recv(100).split(b"\r\n")[0]
        except OSError:
            return b""
