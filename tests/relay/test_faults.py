"""What happens to a relay, its log and its connections when things go wrong around them."""

import hashlib
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest

from longhaul.errors import LonghaulError
from longhaul.run import session, sockets

CLI = [sys.executable, "-m", "longhaul.cli.main"]
HALF_OPEN = 9_000


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def target() -> Iterator[int]:
    """The port of a server that answers all that it gets, once it has ended, with its digest."""
    server = socket.create_server(("127.0.0.1", 0), backlog=1_000)

    def serve(connection: socket.socket) -> None:
        with connection:
            digest = hashlib.sha256()
            while data := connection.recv(65_536):
                digest.update(data)
            connection.sendall(digest.digest())

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            Thread(target=serve, args=(connection,), daemon=True).start()

    with closing(server):
        Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]


@contextmanager
def relay(*arguments: str, wrap: tuple[str, ...] = ()) -> Iterator[tuple["subprocess.Popen[str]", list[int]]]:
    """``longhaul relay`` with these arguments; itself, and the ports that it listens at."""
    process = subprocess.Popen(
        [*wrap, *CLI, "relay", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    ports = []
    try:
        while "relaying" not in (line := process.stdout.readline()):
            assert line, "it ended"
            ports.append(int(line.split()[1].rpartition(":")[2]))
        yield process, ports
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=20)
        process.stdout.close()


def ended(process: "subprocess.Popen[str]") -> str:
    """What it said from its interruption on."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)[0]


def is_whole(port: int, size: int = 2_000_000) -> bool:
    """Whether ``size`` bytes arrive as they were sent."""
    data = random.Random(size).randbytes(size)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(64):
            answer += part
    return answer == hashlib.sha256(data).digest()


def push(connection: socket.socket) -> None:
    while True:
        connection.sendall(bytes(100_000))
        time.sleep(0.01)


def test_a_gateway_that_was_killed_breaks_its_connections_and_starts_again(target: int) -> None:
    with relay("--delay", "5ms", "--rate", "10Mbit", "--forward", f"0=127.0.0.1:{target}") as (
        process,
        ports,
    ):
        connection = socket.create_connection(("127.0.0.1", ports[0]), timeout=10)
        connection.sendall(bytes(500_000))
        process.kill()
        process.wait()
        with pytest.raises(OSError, match=r"reset|pipe"):
            push(connection)
    forward = f"{ports[0]}=127.0.0.1:{target}"
    with relay("--delay", "5ms", "--forward", forward) as (process, again):
        assert again == ports
        assert is_whole(ports[0])
        assert "1 completed" in ended(process)


def test_a_full_disk_stops_the_log_and_not_the_connections(target: int) -> None:
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are closed here")
    Path("runs").mkdir()
    small = ("unshare", "-Urm", "sh", "-c", 'mount -t tmpfs -o size=64k tmpfs runs && exec "$@"', "sh")
    arguments = ("--delay", "1ms", "--rate", "40Mbit", "--forward", f"0=127.0.0.1:{target}")
    with relay(*arguments, wrap=small) as (process, ports):
        assert all(is_whole(ports[0]) for _ in range(4))
        said = ended(process)
    assert process.returncode == 4, said
    assert "cannot write the" in said
    assert "No space left on device" in said


def test_thousands_of_half_open_connections_and_garbage_disturb_nobody(target: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = HALF_OPEN + 500
    if hard < wanted:
        pytest.skip(f"{hard} open files are too few")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    noise = random.Random(1)
    arguments = ("--delay", "1ms", "--no-log", "--socks", "127.0.0.1:0")
    forwards = ("--forward", f"0=127.0.0.1:{target}", "--forward", f"udp:0=127.0.0.1:{target}")
    try:
        with ExitStack() as stack, relay(*arguments, *forwards) as (process, ports):
            socks, forward, udp = ports
            for _ in range(HALF_OPEN):
                stack.enter_context(socket.create_connection(("127.0.0.1", socks)))
            sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            for _ in range(200):
                sender.sendto(noise.randbytes(noise.randrange(1_400)), ("127.0.0.1", udp))
                with socket.create_connection(("127.0.0.1", socks)) as stranger:
                    stranger.sendall(noise.randbytes(noise.randrange(1, 3_000)))
            memory_kb = int(Path(f"/proc/{process.pid}/status").read_text().partition("VmRSS:")[2].split()[0])
            assert memory_kb < 300_000
            assert is_whole(forward)
            status = session.ask(sockets.find(None), {"do": "status"})
            assert status["relay"]["connections"]["open"] >= HALF_OPEN
            stack.close()
            assert is_whole(forward)
            said = ended(process)
        assert "2 completed" in said, said
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_only_who_knows_the_token_steers(target: int) -> None:
    with relay("--delay", "1ms", "--forward", f"0=127.0.0.1:{target}") as (process, ports):
        path = sockets.find(None)
        for noise in (
            b"garbage\n",
            b"\xff\xfe\n",
            b"{}\n",
            json.dumps({"do": "stop", "token": "x"}).encode() + b"\n",
        ):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.connect(str(path))
                stranger.sendall(noise)
                assert not json.loads(stranger.recv(4_096))["ok"]
        token = path.with_suffix(".token")
        assert token.stat().st_mode & 0o077 == 0
        token.write_text("0" * len(token.read_text()))
        with pytest.raises(LonghaulError, match="wrong token"):
            session.ask(path, {"do": "status"})
        assert is_whole(ports[0], 10_000)
        assert "1 completed" in ended(process)
    assert not path.exists()
    assert not token.exists()
    assert os.listdir(path.parent) == []
