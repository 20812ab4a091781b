"""Gateways to measure, ours and others, each leading from one port of this machine to another."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOXIPROXY = "github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0"
TOXIPROXY_PROGRAM = ROOT / ".tools" / "bin" / "server"

Commands = Callable[[int, int, Path], list[str]]
"""The command of a gateway from one port to another; what it needs is written into a directory."""

SCENARIO = """\
version: 1
name: bench-relay-{port}
nodes: {{near: {{kind: router}}, far: {{kind: router}}}}
links:
  wan: {{endpoints: [near, far], {models}}}
relay:
  algorithm: {algorithm}
  clusters:
    near: {{gateway: 127.0.0.1, machines: 127.0.0.1/32}}
    far: {{gateway: 127.0.0.2, machines: 127.0.0.2/32}}
  forwards:
    - {{listen: {port}, from: near, to: "127.0.0.2:{target}"}}
"""


def ours(models: str = "delay: 0ms", algorithm: str = "one-thread") -> Commands:
    """A relay over one link with ``models``."""

    def command(port: int, target: int, directory: Path) -> list[str]:
        scenario = directory / "scenario.yaml"
        scenario.write_text(SCENARIO.format(port=port, target=target, models=models, algorithm=algorithm))
        longhaul = str(Path(sys.executable).with_name("longhaul"))
        return [longhaul, "relay", str(scenario), "--no-log", "--json", "--runs", str(directory / "runs")]

    return command


def socat(*options: str) -> Commands:
    """A socat."""
    return lambda port, target, _: [
        "socat",
        *options,
        f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork",
        f"TCP:127.0.0.2:{target}",
    ]


def haproxy(port: int, target: int, directory: Path) -> list[str]:
    """HAProxy, which moves bytes within the kernel where it can."""
    path = directory / "haproxy.cfg"
    path.write_text(
        "defaults\n mode tcp\n option splice-auto\n"
        " timeout connect 5s\n timeout client 60s\n timeout server 60s\n"
        f"listen relay\n bind 127.0.0.1:{port}\n server far 127.0.0.2:{target}\n"
    )
    return ["haproxy", "-db", "-q", "-f", str(path)]


def toxiproxy(port: int, target: int, directory: Path) -> list[str]:
    """Toxiproxy without a toxic."""
    path = directory / "toxiproxy.json"
    proxy = {"name": "far", "listen": f"127.0.0.1:{port}", "upstream": f"127.0.0.2:{target}", "enabled": True}
    path.write_text(json.dumps([proxy]))
    return [str(TOXIPROXY_PROGRAM), "-config", str(path), "-port", str(free_port())]


def find_peers() -> dict[str, Commands]:
    """Those that are here, or can be had; says what to do about the others."""
    peers: dict[str, Commands] = {}
    if shutil.which("socat"):
        peers |= {"socat": socat(), "socat -b 262144": socat("-b", "262144")}
    else:
        print("socat is left out; apt-get install socat", file=sys.stderr)
    if shutil.which("haproxy"):
        peers["HAProxy"] = haproxy
    else:
        print("HAProxy is left out; apt-get install haproxy", file=sys.stderr)
    if build_toxiproxy():
        peers["toxiproxy"] = toxiproxy
    return peers


def build_toxiproxy() -> bool:
    """Whether toxiproxy is here, by Go's own tools if it was not."""
    if TOXIPROXY_PROGRAM.exists():
        return True
    if not shutil.which("go"):
        print("toxiproxy is left out: there is no go; apt-get install golang", file=sys.stderr)
        return False
    environment = {**os.environ, "GOBIN": str(TOXIPROXY_PROGRAM.parent)}
    built = subprocess.run(
        ["go", "install", TOXIPROXY], env=environment, capture_output=True, text=True, check=False
    )
    if built.returncode != 0:
        print(f"toxiproxy is left out: it does not build\n{built.stderr[-1000:]}", file=sys.stderr)
    return built.returncode == 0


def free_port() -> int:
    """A port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def opened(commands: Commands, target: int) -> Iterator[tuple[int, int]]:
    """A gateway to a port of 127.0.0.2; its own port at 127.0.0.1, and its process."""
    port = free_port()
    with tempfile.TemporaryDirectory() as directory, Path(directory, "said").open("w+") as said:
        argv = commands(port, target, Path(directory))
        with subprocess.Popen(argv, stdout=said, stderr=said) as process:
            try:
                wait_for(port, process)
                yield port, process.pid
            except BaseException:
                said.seek(0)
                print(said.read()[-1000:], file=sys.stderr)
                raise
            finally:
                process.terminate()


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return when a process listens at a port; looks without connecting, which some would pass on."""
    deadline = time.monotonic() + 60
    while not listens(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{process.args!r} does not listen")
        time.sleep(0.02)


def listens(port: int) -> bool:
    """Whether somebody does, by the kernel's table of sockets, in which state 0A is listening."""
    tables = (Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    fields = [line.split() for table in tables for line in table]
    return any(each[1].endswith(f":{port:04X}") and each[3] == "0A" for each in fields)
