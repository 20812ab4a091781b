"""Real connections through real gateways, between addresses of this machine that stand for two clusters."""

import csv
import json
import os
import re
import signal
import socket
import socketserver
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import forked
import pytest
from embedded import embedded_charts, panels

import longhaul
from longhaul.errors import LonghaulError
from longhaul.relay import Message, Parameters, Running

ROOT = Path(__file__).parents[2]
DELAY_MS = 20.0


class Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while data := self.request.recv(65_536):
            self.request.sendall(data)


@pytest.fixture
def target() -> Iterator[int]:
    """The port of a server in the second cluster that sends back what it gets."""
    with socketserver.ThreadingTCPServer(("127.2.0.11", 0), Echo) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.chdir(tmp_path)
    return directory / "longhaul"


def scenario(folder: Path, port: int, *, models: str = f"delay: {DELAY_MS}ms", more: str = "") -> Path:
    """Two clusters and a link with ``models``; every port is one that is free."""
    path = folder / "t.yaml"
    path.write_text(f"""
version: 1
name: t
nodes: {{near: {{kind: router}}, far: {{kind: router}}}}
links: {{wan: {{endpoints: [near, far], {models}}}}}
relay:
  clusters:
    near: {{gateway: 127.1.0.1, machines: 127.1.0.0/24}}
    far: {{gateway: 127.2.0.1, machines: 127.2.0.0/24, names: {{n11: 127.2.0.11}}}}
  socks: 0
  forwards:
    - {{listen: 0, from: near, to: "n11:{port}"}}
    - {{listen: 0, from: near, to: "n11:{port}", protocol: udp}}
{more}""")
    return path


def place(relay: Running, kind: str) -> tuple[str, int]:
    return next(each for each in relay.listening if each.kind == kind).place


def exchange(connection: socket.socket, data: bytes) -> float:
    """Sends ``data`` and waits for it to come back; returns ms."""
    began = time.monotonic()
    connection.sendall(data)
    left = len(data)
    while left:
        got = connection.recv(left)
        assert got
        left -= len(got)
    return (time.monotonic() - began) * 1e3


def test_a_relay_has_a_report_and_its_files_are_written_on_request(tmp_path: Path, target: int) -> None:
    with (
        longhaul.relay.running(scenario(tmp_path, target)) as relay,
        socket.create_connection(place(relay, "forward")) as connection,
    ):
        for _ in range(31):
            exchange(connection, b"x")
    directory = relay.result.directory
    (chart,) = embedded_charts(directory).values()
    assert chart["name"] == "relayed"
    assert [len(each["series"]) for each in panels(chart)] == [2, 2, 2]
    # From the start of the relay on, whenever the first message came.
    assert chart["axes"][0]["low"] == 0
    assert "median lateness of pieces of data" in (directory / "report.html").read_text()
    done = forked.longhaul("report", str(directory), "--format", "csv", "--format", "md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = ["report.html", "report.md", "figures/relayed.csv"]
    assert done.stdout.split() == [str(directory / name) for name in names]
    with (directory / "figures/relayed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["series"] for row in rows} == {
        *("near > far", "far > near", "1: near > far", "1: far > near"),
        *("median", "p99"),
    }
    lines = (directory / "report.md").read_text().splitlines()
    assert any(line.startswith("| lateness | p50 ") for line in lines)
    assert {"# t", "## Links", "## Connections", "## Scenario"} <= set(lines)
    assert any(line.startswith("| wan | forward | 31 B | 31 B |") for line in lines)


def test_a_round_trip_takes_the_delays_of_both_ways(tmp_path: Path, target: int) -> None:
    with longhaul.relay.running(scenario(tmp_path, target)) as relay:
        with socket.create_connection(place(relay, "forward")) as connection:
            exchange(connection, b"x")
            round_trips = [exchange(connection, b"x") for _ in range(30)]
        assert relay.status()["relay"]["connections"]["accepted"] == 1
    # Other work of the machine can only add to a round trip.
    assert 2 * DELAY_MS <= min(round_trips) < 2 * DELAY_MS + 2
    messages = relay.result.table("messages")
    assert sum(messages["bytes"]) == 2 * 31
    assert set(zip(messages["from"], messages["to"], strict=True)) == {("near", "far"), ("far", "near")}
    assert set(messages["wanted_ns"]) == {int(DELAY_MS * 1e6)}
    late = [
        out - into - wanted
        for into, wanted, out in zip(
            messages["in_ns"], messages["wanted_ns"], messages["out_ns"], strict=True
        )
    ]
    assert min(late) >= 0
    (connection_row,) = relay.result.table("connections")["bytes_forward"]
    assert connection_row == 31


@pytest.mark.parametrize("algorithm", ["one-thread", "paper"])
def test_what_passed_is_in_the_log_while_nothing_passes(tmp_path: Path, target: int, algorithm: str) -> None:
    path = scenario(tmp_path, target, more=f"  algorithm: {algorithm}\n")
    path.write_text(re.sub(r"\n.*protocol: udp.*", "", path.read_text()))
    with (
        longhaul.relay.running(path, runs=tmp_path / "runs") as relay,
        socket.create_connection(place(relay, "forward")) as connection,
    ):
        for _ in range(3):
            exchange(connection, b"x")
        (log,) = (tmp_path / "runs").rglob("messages.csv")
        until = time.monotonic() + 10
        while len(log.read_text().splitlines()) < 1 + 2 * 3:
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)


def test_bytes_take_their_time_at_the_rate_and_come_back_as_they_were(tmp_path: Path, target: int) -> None:
    # 250 kB at 4 Mbit/s take 0.5 s; the way back has no limit.
    models = "forward: {rate: 4Mbit, queue: 1MiB}"
    content = os.urandom(250_000)
    with (
        longhaul.relay.running(scenario(tmp_path, target, models=models), log=False) as relay,
        socket.create_connection(place(relay, "forward")) as connection,
    ):
        exchange(connection, b"x")
        began = time.monotonic()
        sender = Thread(target=connection.sendall, args=(content,))
        sender.start()
        got = b""
        while len(got) < len(content):
            got += connection.recv(65_536)
        took = time.monotonic() - began
        sender.join()
    assert got == content
    assert 0.5 * 0.98 <= took < 0.5 * 1.5
    assert not (relay.result.directory / "messages.parquet").exists()


def test_datagrams_are_delayed_and_answered(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.2.0.11", 0))
        with (
            longhaul.relay.running(scenario(tmp_path, server.getsockname()[1])) as relay,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
        ):
            client.settimeout(10)
            server.settimeout(10)
            client.connect(place(relay, "datagrams"))
            began = time.monotonic()
            client.send(b"question")
            data, whom = server.recvfrom(100)
            server.sendto(data.upper(), whom)
            assert client.recv(100) == b"QUESTION"
            assert (time.monotonic() - began) * 1e3 >= 2 * DELAY_MS


def test_a_change_takes_effect_and_one_that_is_wrong_is_refused(tmp_path: Path, target: int) -> None:
    with (
        longhaul.relay.running(scenario(tmp_path, target)) as relay,
        socket.create_connection(place(relay, "forward")) as connection,
    ):
        exchange(connection, b"x")
        assert relay.set("wan", delay="60ms") > 0
        assert exchange(connection, b"x") >= 120
        relay.set("wan", delay="1ms", way="reverse")
        assert 61 <= min(exchange(connection, b"x") for _ in range(5)) < 120
        with pytest.raises(LonghaulError, match='there is no link or node "lan"'):
            relay.set("lan", delay="1ms")
        with pytest.raises(LonghaulError, match="has no unit"):
            relay.set("wan", delay="1")


def test_socks_finds_names_of_the_scenario(tmp_path: Path, target: int) -> None:
    with longhaul.relay.running(scenario(tmp_path, target)) as relay:
        by = next(each.address for each in relay.listening if each.kind == "socks" and each.source == "near")
        words = [
            sys.executable,
            "-m",
            "longhaul.cli.main",
            "relay",
            "connect",
            "--by",
            by,
            "n11",
            str(target),
        ]
        done = subprocess.run(words, input=b"hello", capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (0, b"hello"), done.stderr
    assert relay.result.table("connections")["to"] == ["far"]


def free_port(address: str) -> int:
    with socket.create_server((address, 0)) as taken:
        return int(taken.getsockname()[1])


def test_chained_gateways_delay_each_way_once(tmp_path: Path, target: int) -> None:
    path = scenario(tmp_path, target, more=f"  gateways: chained\n  chain: {free_port('127.1.0.1')}\n")
    path.write_text(re.sub(r"\n.*protocol: udp.*", "", path.read_text()))
    with (
        longhaul.relay.running(path, gateway="near") as near,
        longhaul.relay.running(path, gateway="far") as far,
        socket.create_connection(place(near, "forward")) as connection,
    ):
        exchange(connection, b"x")
        round_trips = [exchange(connection, b"x") for _ in range(10)]
    assert 2 * DELAY_MS <= min(round_trips) < 2 * DELAY_MS + 4
    # Each gateway counts what comes into its own cluster.
    assert set(near.result.table("messages")["to"]) == {"near"}
    assert set(far.result.table("messages")["to"]) == {"far"}


class SlowLarge:
    """Keeps large messages longer."""

    def setup(self, parameters: Parameters) -> None:
        self.seen: list[int] = []

    def operation(self, message: Message) -> Message | None:
        self.seen.append(len(message.data))
        large = len(message.data) > 1024
        return replace(message, extra_delay_ns=30_000_000) if large else None

    def teardown(self) -> None:
        self.seen.append(-1)


class Shout:
    """Writes in capitals what goes to the far cluster."""

    def setup(self, parameters: Parameters) -> None: ...

    def operation(self, message: Message) -> Message | None:
        return replace(message, data=message.data.upper()) if message.destination == "far" else None

    def teardown(self) -> None: ...


def test_wrappers_delay_and_change_messages(tmp_path: Path, target: int) -> None:
    slow = SlowLarge()
    with (
        longhaul.relay.running(
            scenario(tmp_path, target, models="delay: 1ms"), wrappers=[slow, Shout()]
        ) as relay,
        socket.create_connection(place(relay, "forward")) as connection,
    ):
        connection.sendall(b"quiet")
        assert connection.recv(100) == b"QUIET"
        assert min(exchange(connection, b"x") for _ in range(10)) < 30
        assert exchange(connection, bytes(1400)) >= 2 * 30
    assert slow.seen[-1] == -1
    assert sum(slow.seen[:-1]) == 2 * (5 + 10 + 1400)


def test_a_wrapper_that_fails_is_named_when_the_relay_ends(tmp_path: Path, target: int) -> None:
    class Fails(SlowLarge):
        def operation(self, message: Message) -> Message | None:
            raise KeyError("lost")

    with (
        pytest.raises(LonghaulError, match="wrapper Fails failed: KeyError"),
        longhaul.relay.running(scenario(tmp_path, target), wrappers=[Fails()]) as relay,
        socket.create_connection(place(relay, "forward")) as connection,
    ):
        assert exchange(connection, b"x") >= 2 * DELAY_MS


def test_a_duration_ends_it(tmp_path: Path, target: int) -> None:
    result = longhaul.relay.serve(scenario(tmp_path, target), duration="300ms")
    assert result.summary["ended"] == "duration"
    assert 0.3 <= result.summary["duration_ns"] / 1e9 < 5


def test_an_address_that_is_taken_or_not_ours_is_said_at_once(tmp_path: Path, target: int) -> None:
    with socket.create_server(("127.1.0.1", 0)) as taken:
        path = scenario(tmp_path, target)
        path.write_text(path.read_text().replace("socks: 0", f"socks: {taken.getsockname()[1]}"))
        with pytest.raises(LonghaulError, match="in use; end what listens there") as caught:
            longhaul.relay.serve(path)
    assert caught.value.exit_code == 3
    path.write_text(path.read_text().replace("gateway: 127.1.0.1", "gateway: 192.0.2.1"))
    with pytest.raises(LonghaulError, match="must be one of this machine's"):
        longhaul.relay.serve(path)


Process = subprocess.Popen[str]


@pytest.fixture
def foreground(tmp_path: Path, target: int) -> Iterator[Process]:
    """``longhaul relay`` in a process of its own, which listens."""
    words = [sys.executable, "-m", "longhaul.cli.main", "relay", str(scenario(tmp_path, target)), "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "relaying" not in (line := process.stderr.readline()):
            assert line, "it ended early"
        yield process
        process.kill()


def test_status_set_and_down_work_as_for_other_runs(foreground: Process, runtime: Path) -> None:
    assert "t: a relay" in forked.longhaul("status").stdout
    answer: dict[str, Any] = json.loads(forked.longhaul("status", "--name", "t", "--json").stdout)
    assert answer["relay"]["connections"]["accepted"] == 0
    assert "wan changed at" in forked.longhaul("set", "wan", "delay=5ms").stdout
    down = forked.longhaul("down", "--json")
    out, _ = foreground.communicate(timeout=30)
    assert foreground.returncode == 0
    assert down.returncode == 0, down.stderr
    assert json.loads(down.stdout) == json.loads(out)
    assert list(runtime.iterdir()) == []


def test_who_has_not_the_token_is_refused_and_changes_nothing(foreground: Process, runtime: Path) -> None:
    token = runtime / "t.token"
    right = token.read_text()
    for wrong in ("0" * 64, ""):
        token.write_text(wrong)
        for command in (["status"], ["set", "wan", "delay=5ms"], ["down"]):
            done = forked.longhaul(*command)
            assert done.returncode == 2
            assert "token" in done.stderr
    token.write_text(right)
    assert "t: a relay" in forked.longhaul("status").stdout


def test_ctrl_c_ends_it_well(foreground: Process) -> None:
    foreground.send_signal(signal.SIGINT)
    out, _ = foreground.communicate(timeout=30)
    assert foreground.returncode == 0
    assert json.loads(out)["ended"] == "stopped"


def test_the_same_name_is_not_given_twice(foreground: Process, tmp_path: Path) -> None:
    again = forked.longhaul("relay", str(tmp_path / "t.yaml"))
    assert again.returncode == 2
    assert "a run called t is up" in again.stderr


def test_the_quick_case_needs_no_scenario(target: int, tmp_path: Path) -> None:
    port = free_port("127.0.0.1")
    words = ["--delay", "15ms", "--forward", f"{port}=127.2.0.11:{target}", "--for", "20s", "--no-log"]
    command = [sys.executable, "-m", "longhaul.cli.main", "relay", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert f"forward 127.0.0.1:{port} (near) -> 127.2.0.11:{target}" in process.stderr.readline()
        assert "relaying" in process.stderr.readline()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            assert exchange(connection, b"x") >= 30
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130


def test_the_python_of_the_guide_works(tmp_path: Path) -> None:
    text = (ROOT / "docs/how-to/relay.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    took = {
        int(size): int(ms) for size, ms in re.findall(r"(\d+) bytes there and back in (\d+) ms", done.stdout)
    }
    assert took[1] >= 20
    assert took[2000] >= 30
    assert re.search(r"2 of 4 messages were large", done.stdout), done.stdout


def test_the_commands_of_the_guide_are_understood(tmp_path: Path) -> None:
    text = (ROOT / "docs/how-to/relay.md").read_text(encoding="utf-8")
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    paths = [re.search(r"longhaul (relay paths [^>)]*)", line) for line in lines]
    for match in filter(None, paths):
        done = forked.longhaul(*match[1].split())
        assert done.returncode == 0, done.stderr
        assert done.stdout
    assert sum(match is not None for match in paths) == 3
