"""Programs as they are, through a relay of a user without any privilege."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios/relay.yaml"
MPICH = ROOT / ".tools/mpich"
RTT_MS = 36.52
"""Of the link, there and back."""


class User:
    """Somebody without capabilities, with a directory of their own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        # The environment's own Python may stand in a home directory that is closed to others.
        self.python = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("LONGHAUL", "XDG"))},
            "PATH": f"{place}/bin:{os.environ['PATH']}:/usr/sbin",
            "HOME": str(place),
            "TMPDIR": str(place),
            "XDG_RUNTIME_DIR": str(place / "runtime"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{ROOT / 'python'}:{sysconfig.get_path('purelib')}",
        }
        (place / "bin").mkdir()
        (place / "bin/longhaul").write_text(f'#!/bin/sh\nexec {self.python} -m longhaul.cli.main "$@"\n')
        (place / "bin/longhaul").chmod(0o755)
        self.run("mkdir", "-m", "700", str(place / "runtime"))

    def start(self, *argv: str, **options: Any) -> "subprocess.Popen[str]":
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
        command = [*(drop if os.geteuid() == 0 else []), *argv]
        return subprocess.Popen(command, cwd=self.place, env=self.environment, text=True, **options)

    def run(self, *argv: str, timeout: float = 60) -> str:
        with self.start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, errors = process.communicate(timeout=timeout)
            finally:
                process.kill()
        assert process.returncode == 0, out + errors
        return out

    def messages(self) -> dict[str, list[Any]]:
        """The log of the latest relay."""
        latest = max(self.place.glob("runs/*/*/messages.parquet"), key=lambda path: path.stat().st_mtime)
        table: dict[str, list[Any]] = pq.read_table(latest).to_pydict()
        return table


@pytest.fixture
def user() -> Iterator[User]:
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        if os.geteuid() == 0:
            os.chown(place, 65534, 65534)
        found = User(Path(place))
        if os.geteuid() == 0:
            probe = subprocess.run(
                ["setpriv", "--reuid=65534", found.python, "-c", "import sys, longhaul; sys.exit(0)"],
                env=found.environment,
                check=False,
                capture_output=True,
            )
            if probe.returncode != 0:
                pytest.skip("the project, or a Python for it, is closed to other users here")
        yield found


@contextmanager
def relay(user: User, target: str) -> Iterator[None]:
    """``scenarios/relay.yaml``, with port 15201 of Tromso leading to ``target`` in Aalborg."""
    process = user.start(
        *("longhaul", "relay", str(SCENARIO), "--set", f"target={target}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        said = ""
        while "relaying" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        capabilities = Path(f"/proc/{process.pid}/status").read_text().partition("CapEff:")[2].split()[0]
        assert int(capabilities, 16) == 0
        yield
    finally:
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    # What else runs on this machine decides whether it was faithful; that is said, and tested elsewhere.
    assert process.returncode in (0, 4), rest


@contextmanager
def serving(*argv: str, ready: str, user: User | None = None, cwd: Path | None = None) -> Iterator[None]:
    """A server while the block lasts, begun when ``ready`` says so on a TCP port (ADDRESS:PORT)."""
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = user.start(*argv, **options) if user else subprocess.Popen(argv, cwd=cwd, **options)
    host, _, port = ready.partition(":")
    try:
        probe = f"exec 3<>/dev/tcp/{host}/{port}"
        for _ in range(100):
            if subprocess.run(["bash", "-c", probe], capture_output=True, check=False).returncode == 0:
                break
            assert process.poll() is None, f"{argv[0]} ended"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


def test_iperf3_gets_the_rate_of_the_link_both_ways(user: User) -> None:
    with (
        serving("iperf3", "-s", "-B", "127.2.0.11", "-p", "15301", ready="127.2.0.11:15301", user=user),
        relay(user, "n11:15301"),
    ):
        for way, rate in (([], 2.28e6), (["-R"], 2.32e6)):
            command = ["iperf3", "-c", "127.1.0.1", "-p", "15201", "-t", "8", "-O", "1", "-J", *way]
            end = json.loads(user.run(*command))["end"]
            # Others' work on the machine takes from the rate; nothing adds to it.
            assert 0.97 * rate < end["sum_received"]["bits_per_second"] < 1.01 * rate


def test_redis_and_curl_see_the_round_trip_of_the_link(user: User) -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("no Redis: tools/setup --tests")
    server = [
        "redis-server",
        "--bind",
        "127.2.0.11",
        "--port",
        "15302",
        "--save",
        "",
        "--protected-mode",
        "no",
    ]
    with serving(*server, ready="127.2.0.11:15302", user=user), relay(user, "n11:15302"):
        assert user.run("redis-cli", "-h", "127.1.0.1", "-p", "15201", "set", "far", "away") == "OK\n"
        assert user.run("redis-cli", "-h", "127.1.0.1", "-p", "15201", "get", "far") == "away\n"
    messages = user.messages()
    late_us = [
        (out - into - wanted) / 1e3
        for into, wanted, out in zip(
            messages["in_ns"], messages["wanted_ns"], messages["out_ns"], strict=True
        )
    ]
    # Of so few messages a busy machine may delay any; bench/relay.py judges precision.
    assert 0 <= min(late_us) < 500
    one_way = [wanted / 1e6 for wanted in messages["wanted_ns"]]
    assert min(one_way) == pytest.approx(RTT_MS / 2, rel=0.01)

    (user.place / "page").write_bytes(bytes(range(256)) * 400)
    web = [user.python, "-m", "http.server", "15303", "--bind", "127.2.0.12"]
    with serving(*web, ready="127.2.0.12:15303", user=user), relay(user, "n11:15302"):
        fetched = user.run(
            *("curl", "-sS", "--proxy", "socks5h://127.1.0.1:1080", "-o", "fetched"),
            *("-w", "%{time_starttransfer} %{time_total}", "http://n12:15303/page"),
        )
    assert (user.place / "fetched").read_bytes() == (user.place / "page").read_bytes()
    first_s, total_s = map(float, fetched.split())
    # A round trip to connect, one for the request; then 102,400 bytes at 2.32 Mbit/s.
    assert first_s >= 2 * RTT_MS / 1e3
    assert total_s - first_s == pytest.approx(102_400 * 8 / 2.32e6, rel=0.1)


def test_ssh_goes_through_the_settings_that_the_path_map_prints(user: User, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a server for this user's login is started as root")
    for key in ("host", "login"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True)
    (tmp_path / "authorized").write_text((tmp_path / "login.pub").read_text())
    key = user.place / "login"
    shutil.copy(tmp_path / "login", key)
    os.chown(key, 65534, 65534)
    key.chmod(0o600)
    config = tmp_path / "sshd_config"
    settings = {
        "Port": "15304",
        "ListenAddress": "127.2.0.11",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "authorized",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "PermitRootLogin": "prohibit-password",
    }
    config.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    Path("/run/sshd").mkdir(exist_ok=True)
    with (
        serving("/usr/sbin/sshd", "-D", "-f", str(config), ready="127.2.0.11:15304"),
        relay(user, "n11:15304"),
    ):
        found = user.run("longhaul", "relay", "paths", str(SCENARIO), "--node", "n1", "--ssh")
        file = user.place / "ssh_config"
        file.write_text(found)
        said = user.run(
            *("ssh", "-F", str(file), "-i", str(key), "-p", "15304", "-o", "StrictHostKeyChecking=no"),
            *("-o", f"UserKnownHostsFile={user.place}/known", "root@n11", "echo", "hello from afar"),
        )
    assert said == "hello from afar\n"


PING_PONG = """
import time
from mpi4py import MPI
world = MPI.COMM_WORLD
message = bytearray(8)
times = []
for _ in range(40):
    began = time.perf_counter()
    for turn in (0, 1):
        world.Send(message, 1 - world.rank) if turn == world.rank else world.Recv(message, 1 - world.rank)
    times.append((time.perf_counter() - began) * 1e3)
if world.rank == 0:
    print(min(times[5:]), flush=True)
"""

SITES = """
version: 1
name: mpi
nodes: {tromso: {kind: router}, aalborg: {kind: router}}
links: {wan: {endpoints: [tromso, aalborg], delay: 18.26ms}}
relay:
  clusters:
    tromso: {gateway: 10.1.0.254, machines: 10.1.0.0/24}
    aalborg: {gateway: 10.2.0.254, machines: 10.2.0.0/24}
  transparent: 15001
"""

JOB = f"""
. {ROOT}/tests/relay/rack.sh
longhaul relay sites.yaml --for 60s > relay.out 2>&1 &
relay=$!
for _ in $(seq 100); do grep -q relaying relay.out && break; sleep 0.05; done
export MPIR_CVAR_CH4_NETMOD=ucx UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 MPIR_CVAR_NOLOCAL=1
timeout 30 {MPICH}/bin/mpiexec.hydra -launcher ssh -launcher-exec "$PWD/enter" -localhost 10.1.0.254 \\
  -hosts a,b -n 2 -ppn 1 "$PYTHON" ping_pong.py
kill -TERM $relay
wait $relay || true
"""

ENTER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" sh -c "$*"
"""


def test_ranks_of_mpi_in_two_namespaces_meet_through_a_redirected_gateway(user: User) -> None:
    if not (MPICH / "lib/libmpi.so.12").exists() or shutil.which("nft", path="/usr/sbin:/sbin") is None:
        pytest.skip("MPICH or nft is missing: tools/setup --tests")
    if subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are closed here")
    for name, text in {"ping_pong.py": PING_PONG, "sites.yaml": SITES, "job.sh": JOB, "enter": ENTER}.items():
        (user.place / name).write_text(text)
    (user.place / "enter").chmod(0o755)
    user.environment |= {"MPI4PY_LIBMPI": f"{MPICH}/lib/libmpi.so.12", "PYTHON": user.python}
    said = user.run(
        *("unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--mount-proc"),
        *("sh", "job.sh"),
    )
    best_ms = float(said.split()[-1])
    assert RTT_MS <= best_ms < RTT_MS + 1
    connections = pq.read_table(next(user.place.glob("runs/mpi/*/connections.parquet"))).to_pydict()
    assert {"tromso", "aalborg"} <= {*connections["from"], *connections["to"]}
