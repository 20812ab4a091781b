"""Servers, clients and cliques on the loopback interface."""

import csv
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.traces.collect import server as server_module
from longhaul.traces.collect.collection import Plan, collect
from longhaul.traces.collect.connections import Endpoint
from longhaul.traces.collect.probe_styles import make_style
from longhaul.traces.collect.reverse_direction import Measuring
from longhaul.traces.collect.server import Server

SECRET = b"a token"


def start(log: list[str], port: int = 0, secret: bytes | None = SECRET) -> Server:
    measuring = Measuring()
    specials = {"measure": measuring.measure, "attach": measuring.attach}
    server = Server(Endpoint("127.0.0.1", port), secret, log.append, {"name": "far"}, specials)
    server.start()
    return server


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def server(log: list[str]) -> Iterator[Server]:
    server = start(log)
    yield server
    server.close()


def plan(server: Server, out: Path, style: str, **more: object) -> Plan:
    given = {"to": server.endpoint, "out": out, "secret": SECRET, "source": "here", "destination": "far"}
    return Plan(**{**given, "style": make_style(style, {}), "count": 3, "period_ns": 20_000_000, **more})


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))


def logged(log: list[str], words: str) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if any(words in line for line in log):
            return True
        time.sleep(0.01)
    return False


def dialled(server: Server) -> socket.socket:
    return socket.create_connection((server.endpoint.host, server.endpoint.port), timeout=5)


def test_each_style_brings_its_rows(server: Server, tmp_path: Path) -> None:
    for style, most in (("nws", 3), ("eventspace", 6), ("ping", 3), ("sockets", 3)):
        out = tmp_path / f"{style}.csv"
        done = collect(plan(server, out, style), tell=lambda _line: None)
        found = rows(out)
        assert done.rows == len(found) <= most, style
        # The first look at sockets only opens the connection.
        assert len(found) >= most - 1, style
        assert all(0 < float(row["rtt_ms"]) < 1000 for row in found[:1]), style
        assert set(found[0]) == {"t_s", "rtt_ms"} | ({"rate_mbit"} if style != "ping" else set())
        assert style == "ping" or all(float(row["rate_mbit"]) > 0 for row in found), style
        times = [float(row["t_s"]) for row in found]
        assert times == sorted(set(times)), style
        about = json.loads(out.with_suffix(".json").read_text())
        assert about["hosts"]["far"] == {"name": "far"}
        assert (about["tool"], about["ended"], about["clock"][:15]) == (
            style,
            "as planned",
            "CLOCK_MONOTONIC",
        )


@pytest.mark.parametrize("style", ["nws", "eventspace", "sockets"])
def test_both_ways_are_measured_in_turn(server: Server, tmp_path: Path, style: str) -> None:
    collect(plan(server, tmp_path / "t.csv", style, both=True), tell=lambda _line: None)
    found = rows(tmp_path / "t.csv")
    ways = [(row["src"], row["dst"]) for row in found]
    assert ways.count(("here", "far")) == ways.count(("far", "here")) >= 2
    assert all(row["rate_mbit"] for row in found)
    times = [float(row["t_s"]) for row in found]
    assert times == sorted(set(times))


def test_echoes_without_a_connection_go_one_way(server: Server, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="take --over tcp"):
        collect(plan(server, tmp_path / "t.csv", "ping", both=True), tell=lambda _line: None)


def test_strangers_are_refused_with_one_line(server: Server, log: list[str], tmp_path: Path) -> None:
    for secret, words in ((None, "the server requires a token"), (b"another", "the token is wrong")):
        with pytest.raises(LonghaulError, match=words) as failure:
            collect(plan(server, tmp_path / "t.csv", "nws", secret=secret), tell=lambda _line: None)
        assert "--token-file" in str(failure.value)
    assert list(tmp_path.iterdir()) == []
    assert logged(log, "refused: wrong token")


def test_garbage_is_closed_with_one_line(server: Server, log: list[str], tmp_path: Path) -> None:
    noise = random.Random(3)
    for _ in range(20):
        with dialled(server) as stream:
            stream.sendall(noise.randbytes(noise.randrange(1, 8000)) + b"\n")
            stream.settimeout(5)
            try:
                while stream.recv(4096):
                    pass
            except ConnectionResetError:
                pass
    assert logged(log, "closed: ")
    until = time.monotonic() + 5
    while len(log) < 20 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(log) == 20
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(0.2)
        datagrams.sendto(bytes(64), (server.endpoint.host, server.endpoint.port))
        with pytest.raises(TimeoutError):
            datagrams.recv(100)
    assert collect(plan(server, tmp_path / "t.csv", "ping"), tell=lambda _line: None).rows == 3


def test_silent_strangers_leave_room_for_others(server: Server, tmp_path: Path) -> None:
    silent = [dialled(server) for _ in range(3 * server_module.MOST_STRANGERS)]
    assert collect(plan(server, tmp_path / "t.csv", "nws"), tell=lambda _line: None).rows == 3
    for stream in silent:
        stream.close()


def test_a_server_that_is_full_says_so(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "MOST_CLIENTS", 0)
    with pytest.raises(LonghaulError, match="the server is busy"):
        collect(plan(server, tmp_path / "t.csv", "nws"), tell=lambda _line: None)


def test_other_services_are_told_apart(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        child = subprocess.Popen(
            [sys.executable, "-c", "import socket,sys; s=socket.socket(fileno=int(sys.argv[1]))\n"
             "c,_=s.accept(); c.sendall(b'220 mail ready\\r\\n'); c.recv(100)", str(listening.fileno())],
            pass_fds=[listening.fileno()],
        )  # fmt: skip
        to = Endpoint("127.0.0.1", listening.getsockname()[1])
        with pytest.raises(LonghaulError, match="it answers, but it is not a trace server; does longhaul"):
            collect(Plan(to=to, style=make_style("nws", {}), out=tmp_path / "t.csv"), tell=lambda _line: None)
        child.wait(timeout=10)


def test_a_server_that_goes_leaves_gaps_until_it_is_back(tmp_path: Path) -> None:
    log: list[str] = []
    server = start(log)
    port = server.endpoint.port
    state = {"server": server}

    def tell(_line: str) -> None:
        state["server"].close()

    def back() -> None:
        time.sleep(0.5)
        state["server"] = start(log, port)

    threading.Thread(target=back).start()
    style = make_style("nws", {})
    asked = Plan(to=server.endpoint, style=style, out=tmp_path / "t.csv", period_ns=50_000_000, count=20,
                 secret=SECRET)  # fmt: skip
    collect(asked, tell=tell)
    state["server"].close()
    found = [bool(row["rtt_ms"]) for row in rows(tmp_path / "t.csv")]
    assert len(found) == 20
    assert found[0]
    assert not found[2]
    assert found[-1]


MEMBER = """
import sys, time
from pathlib import Path
from longhaul.traces.collect.connections import Endpoint
from longhaul.traces.collect.membership import CliquePlan, join
from longhaul.traces.collect.probe_styles import Nws
members = [Endpoint("127.0.0.1", int(port)) for port in sys.argv[2:]]
me = members[int(sys.argv[1])]
plan = CliquePlan(members=members, me=me, listen=me, style=Nws(), out=Path(f"{sys.argv[1]}.csv"),
                  period_ns=200_000_000, duration_ns=8_000_000_000, secret=b"token")
join(plan, tell=lambda line: None, observe=lambda to, begun, ended: print(to.port, begun, ended, flush=True))
"""


def free_ports(count: int) -> list[int]:
    streams = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = sorted(stream.getsockname()[1] for stream in streams)
    for stream in streams:
        stream.close()
    return ports


def test_a_cliques_probes_never_overlap_and_go_on_without_the_dead(tmp_path: Path) -> None:
    ports = free_ports(3)
    members = [
        subprocess.Popen(
            [sys.executable, "-c", MEMBER, str(place), *map(str, ports)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for place in range(3)
    ]
    time.sleep(5)
    killed_ns = time.monotonic_ns()
    members[0].send_signal(signal.SIGKILL)
    outs = [member.communicate(timeout=30)[0] for member in members]
    probes = [(place, *map(int, line.split())) for place, out in enumerate(outs) for line in out.splitlines()]
    by_time = sorted(probes, key=lambda probe: probe[2])
    # An interval that the killed member did not end is not there; all others are.
    for (_, _, _, ended), (_, _, begun, _) in pairwise(by_time):
        assert ended <= begun
    for place, other in combinations(range(3), 2):
        assert [each for each in probes if each[0] == place and each[1] == ports[other]]
    for place in (1, 2):
        later = [each for each in probes if each[0] == place and each[2] > killed_ns + 10**9]
        assert len(later) >= 4, "the others go on"
        found = rows(tmp_path / f"{place}.csv")
        dead = [row for row in found if row["dst"].endswith(str(ports[0]))]
        assert not dead[-1]["rtt_ms"]
        alive = [row for row in found if row["dst"].endswith(str(ports[3 - place]))]
        assert any(row["rate_mbit"] for row in alive[-4:])  # the last interval may have been cut short
    assert [member.returncode for member in members] == [-signal.SIGKILL, 0, 0]
    assert not (tmp_path / "0.csv").exists()
