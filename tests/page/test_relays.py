"""Relays on the page: the command line's own process as a job, its figures, its results, and path maps."""

import json
import os
import signal
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longhaul.page import library
from longhaul.page.application import application
from longhaul.relay.server import Opened

from .asgi import PORT, TOKEN, ask
from .served import Served, children, is_alive, serving, until

CLUSTERS = (library.SCENARIOS / "relay.yaml").read_text(encoding="utf-8").partition("expect:")[0]
"""Without what it expects of an idle machine."""
WORDS = "version: 1\nname: words\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n" + (
    "links: {l: {endpoints: [a, b], delay: 1ms}}\ntraffic: {t: {kind: ping, from: a, to: b}}\n"
)


class _Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while data := self.request.recv(65_536):
            self.request.sendall(data)


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """Where bytes come back from."""
    # A machine of Aalborg, in the scenario.
    with socketserver.ThreadingTCPServer(("127.2.0.11", 0), _Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.2.0.11:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("relays")
    (folder / "clusters.yaml").write_text(CLUSTERS)
    (folder / "words.yaml").write_text(WORDS)
    (folder / "secret").write_text("password\n")
    (folder / "empty").write_text("")
    with serving(folder) as served:
        yield served


def started(server: Served, name: str, **body: Any) -> tuple[str, dict[str, Any]]:
    """The job and the state of a relay that listens."""
    status, job = server.ask("/api/relays", {"name": name, **body})
    assert status == 200, job
    return job["id"], listening(server, job["id"])


def listening(server: Served, job: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def listens() -> bool:
        told = server.ask(f"/api/jobs/{job}?after=0")[1]
        assert told["job"]["state"] == "running", told["lines"]
        rows = [each for each in server.ask("/api/relays")[1]["relays"] if each["job"] == job]
        found.update(look(server, rows[0]["run"]) if rows else {})
        return bool(found.get("listeners")) and found["connections"] is not None

    until(listens)
    return found


def look(server: Served, run: str) -> dict[str, Any]:
    status, told = server.ask(f"/api/relays/{run}")
    assert status == 200, told
    return dict(told)


def through(state: dict[str, Any], data: bytes) -> socket.socket:
    """Send bytes through the first forward of a relay and back; the connection stays open."""
    (forward, *_) = [each for each in state["listeners"] if each["kind"] == "forward"]
    connection = socket.create_connection(Opened(**_opened(forward)).place, timeout=60)
    connection.sendall(data)
    left = len(data)
    while left:
        left -= len(connection.recv(left))
    return connection


def panels(server: Served, run: str) -> list[list[dict[str, Any]]]:
    """Those of the chart over time."""
    status, told = server.ask(f"/api/relays/{run}/charts")
    assert (status, told["recorded"]) == (200, True), told
    return told["charts"][0]["rows"] if told["charts"] else []


def _opened(listener: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": listener["kind"],
        "address": listener["address"],
        "source": listener["from"],
        "target": listener["to"],
    }


def test_a_relay_of_one_link_carries_bytes_is_changed_and_ends_with_its_results(
    server: Served, target: str
) -> None:
    link = {"delay": "5ms", "rate": "10Mbit", "forwards": [f"0={target}"]}
    job, state = started(server, "page-relay-one", link=link)
    assert [(each["kind"], each["from"], each["to"]) for each in state["listeners"]] == [
        ("forward", "near", target)
    ]
    assert [(each["delay_ns"], each["bits_per_s"]) for each in state["links"]] == [(5e6, 1e7)] * 2
    with through(state, bytes(10_000)) as connection:
        told = look(server, state["run"])
        assert told["connections"]["open"] == told["connections"]["accepted"] == 1
        assert told["bytes"] == 20_000
        assert [each["delivered_bytes"] for each in told["links"]] == [10_000] * 2
        assert told["fidelity"]["lateness"]["p99_ns"] > 0
        assert (told["running"], told["name"]) == (True, "page-relay-one")
        change = {"link": "wan", "way": "reverse", "changes": {"delay": "20ms"}}
        assert server.ask(f"/api/runs/{state['run']}/set", change)[0] == 200
        told = look(server, state["run"])
        assert [each["delay_ns"] for each in told["links"]] == [5e6, 20e6]
        assert [each["by"] for each in told["changes"]] == ["page"]

        def has_both_ways() -> bool:
            # A message at least half a second after others has the log written.
            connection.sendall(b"x")
            connection.recv(1)
            return [len(each["series"]) for (each,) in panels(server, state["run"])] == [2, 2, 2]

        until(has_both_ways)
        live = panels(server, state["run"])
    assert server.ask(f"/api/jobs/{job}/stop", {})[0] == 200
    until(lambda: not look(server, state["run"])["running"])
    told = look(server, state["run"])
    # From the table that the log became, the same and what came since.
    ((directions,), (connections,), (late,)) = ended = panels(server, state["run"])
    assert [each["name"] for (one,) in live for each in one["series"]] == [
        each["name"] for (one,) in ended for each in one["series"]
    ]
    assert [each["name"] for each in directions["series"]] == ["near > far", "far > near"]
    assert [each["name"] for each in connections["series"]] == ["1: near > far", "1: far > near"]
    assert [each["y"] for each in directions["series"]] == [each["y"] for each in connections["series"]]
    assert max(directions["series"][0]["y"]) > 0
    assert [each["name"] for each in late["series"]] == ["median", "p99"]
    # The change of the reverse way has its mark.
    assert [len(each["marks"]) for each in (directions, connections, late)] == [1, 1, 1]
    assert told["has_report"]
    summary = json.loads((Path(told["directory"]) / "summary.json").read_text())
    assert told["outcome"]["state"] == "passed" == summary["outcome"]["state"]
    assert told["fidelity"]["verdict"] == summary["fidelity"]["verdict"] == told["verdict"]
    assert told["connections"] == summary["connections"]
    assert told["bytes"] == summary["bytes"] > 20_000
    assert told["job"] is None
    assert server.ask(f"/api/runs/{state['run']}")[1]["mode"] == "relay"


def test_a_relay_of_a_scenario_takes_its_parameters_and_ends_after_its_duration(
    server: Served, target: str
) -> None:
    settings = {"socks": "0", "port": "0", "target": target}
    _job, state = started(
        server, "page-relay-file", file="clusters.yaml", settings=settings, duration="3s", messages=False
    )
    assert sorted({each["kind"] for each in state["listeners"]}) == ["datagrams", "forward", "socks"]
    through(state, b"x").close()
    until(lambda: not look(server, state["run"])["running"])
    told = look(server, state["run"])
    assert told["outcome"]["state"] == "passed"
    assert not (Path(told["directory"]) / "messages.parquet").exists()
    told_charts = server.ask(f"/api/relays/{state['run']}/charts")[1]
    assert told_charts == {"recorded": False, "charts": []}
    (row, *_) = server.ask("/api/relays")[1]["relays"]
    assert row["run"] == state["run"]


def test_scenarios_with_a_relay_are_listed(server: Served) -> None:
    told = server.ask("/api/relays")[1]["scenarios"]
    assert [each["name"] for each in told if not each["own"]] == ["clusters.yaml"]
    assert "relay" in [each["name"] for each in told if each["own"]]


def test_the_check_says_what_a_relay_would_be(server: Served) -> None:
    body = {"link": {"delay": "5ms", "forwards": ["8080=127.0.0.1:80"], "socks": "0.0.0.0:1080"}}
    status, told = server.ask("/api/relays/check", body)
    assert status == 200
    assert told["name"] == "relay"
    assert told["listeners"] == [
        "socks 0.0.0.0:1080 (near)",
        "forward 127.0.0.1:8080 (near) -> 127.0.0.1:80",
    ]
    assert told["reachable"] == ["socks 0.0.0.0:1080 (near)"]
    assert [each["code"] for each in told["warnings"]] == ["W0401"]
    assert told["command"] == (
        "longhaul relay serve --delay=5ms --socks=0.0.0.0:1080 --forward=8080=127.0.0.1:80 --name=relay"
    )
    quiet = {"link": {**body["link"], "password_file": "secret"}}
    assert server.ask("/api/relays/check", quiet)[1]["warnings"] == []


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"socks": "0.0.0.0:1080"}, "an open proxy"),
        ({"socks": "[::]:1080"}, "an open proxy"),
        ({"socks": "0.0.0.0:1080", "password_file": "secret"}, "other machines can reach socks 0.0.0.0"),
        ({"forwards": ["0.0.0.0:8080=127.0.0.1:80"]}, "other machines can reach forward 0.0.0.0:8080"),
        ({"forwards": ["udp:0.0.0.0:53=127.0.0.1:53"]}, "other machines can reach datagrams 0.0.0.0:53"),
    ],
)
def test_addresses_that_others_reach_are_refused_until_they_are_accepted(
    server: Served, link: Any, said: str
) -> None:
    before = len(jobs(server))
    status, told = server.ask("/api/relays", {"link": link})
    assert status == 409
    assert said in told["error"]["message"]
    assert "accept it" in told["error"]["remedy"]
    assert len(jobs(server)) == before


def jobs(server: Served) -> list[dict[str, Any]]:
    return list(server.ask("/api/jobs")[1]["jobs"])


def test_an_address_that_others_reach_is_listened_at_once_it_is_accepted(server: Served, target: str) -> None:
    link = {"forwards": [f"0.0.0.0:0={target}"]}
    job, state = started(server, "page-relay-open", link=link, reachable=True)
    assert state["listeners"][0]["address"].startswith("0.0.0.0:")
    # By the socket of the run, as for relays that the command line has started.
    assert server.ask(f"/api/runs/{state['run']}/stop", {})[0] == 200
    until(lambda: not look(server, state["run"])["running"])
    until(lambda: server.ask(f"/api/jobs/{job}?after=0")[1]["job"]["state"] == "done")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "one source"),
        ({"file": "clusters.yaml", "link": {"socks": "1080"}}, "one source"),
        ({"link": {}}, "neither a scenario nor a forward"),
        ({"link": {"delay": "5ms"}}, "would accept no connections"),
        ({"link": {"forwards": ["8080"]}}, '"8080" is not a forward'),
        ({"link": {"delay": "5", "forwards": ["8080=127.0.0.1:80"]}}, "unit"),
        ({"link": {"forwards": ["8080=127.0.0.1:80"]}, "settings": {"a": "1"}}, "has no parameters"),
        (
            {"link": {"socks": "127.0.0.1:1080", "password_file": "../secret"}},
            "../secret is not a file of this directory",
        ),
        ({"link": {"socks": "127.0.0.1:1080", "password_file": "empty"}}, "0 bytes"),
        ({"link": {"forwards": ["8080=127.0.0.1:80"], "command": "rm"}}, "is not known here"),
        ({"file": "words.yaml"}, "has no section relay"),
        ({"file": "../clusters.yaml"}, "cannot name a file"),
        ({"file": "--help.yaml"}, "cannot name a file"),
        ({"file": "missing.yaml"}, "there is no missing.yaml"),
        ({"scenario": "../relay"}, "no such scenario"),
        ({"file": "clusters.yaml", "gateway": "tromso"}, "one process is the gateway"),
        ({"file": "clusters.yaml", "duration": "10"}, "unit"),
        ({"file": "clusters.yaml", "name": "--runs=/"}, '"name"'),
        ({"file": "clusters.yaml", "settings": {"prot": "1"}}, "prot"),
    ],
)
def test_what_is_no_relay_is_refused_before_it_starts(server: Served, body: Any, said: str) -> None:
    before = len(jobs(server))
    for path in ("/api/relays", "/api/relays/check"):
        status, told = server.ask(path, body)
        assert status in (400, 404), told
        assert said in told["error"]["message"]
    assert len(jobs(server)) == before


def test_a_name_that_is_in_use_is_refused_with_a_remedy(server: Served, target: str) -> None:
    link = {"forwards": [f"0={target}"]}
    job, state = started(server, "page-relay-twice", link=link)
    status, told = server.ask("/api/relays", {"link": link, "name": "page-relay-twice"})
    assert status == 400
    assert "page-relay-twice is up" in told["error"]["message"]
    assert "choose another" in told["error"]["remedy"]
    server.ask(f"/api/jobs/{job}/stop", {})
    until(lambda: not look(server, state["run"])["running"])


def test_a_port_in_use_fails_the_job_with_the_words_of_the_command_line(server: Served, target: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        link = {"forwards": [f"{taken.getsockname()[1]}={target}"]}
        job = server.ask("/api/relays", {"link": link, "name": "page-relay-taken"})[1]["id"]
        until(lambda: server.ask(f"/api/jobs/{job}?after=0")[1]["job"]["state"] == "failed")
    told = server.ask(f"/api/jobs/{job}?after=0")[1]
    assert told["job"]["exit_code"] == 3
    assert "end what listens there" in "\n".join(told["lines"])


def test_the_path_map_is_that_of_the_command_line(server: Served) -> None:
    status, told = server.ask("/api/relays/paths", {"text": CLUSTERS})
    assert status == 200
    assert [each["cluster"] for each in told["clusters"]] == ["tromso", "aalborg"]
    (first, _second) = told["clusters"]
    assert first["paths"][0]["round_trip_ns"] == 36_520_000
    assert "export ALL_PROXY=socks5h://127.1.0.1:1080" in first["shell"]
    assert "ProxyCommand longhaul relay connect --by 127.1.0.1:1080 %h %p" in first["ssh"]
    assert "OMPI_MCA_btl_tcp_if_include=127.1.0.0/24,127.2.0.0/24" in told["mpi"]
    refused = server.ask("/api/relays/paths", {"text": WORDS})
    assert refused[0] == 400
    assert refused[1]["error"]["remedy"]
    assert server.ask("/api/relays/paths", {"text": CLUSTERS, "ports": "9-1"})[0] == 400


def test_a_run_that_is_not_a_relay_has_no_state_of_one(server: Served) -> None:
    run = server.start(WORDS, mode="sim")
    status, told = server.ask(f"/api/relays/{run}")
    assert status == 404
    assert "is not a relay" in told["error"]["message"]
    assert server.ask("/api/relays/words~..")[0] == 404


def test_a_read_only_server_starts_no_relay_and_shows_the_path_map(tmp_path: Path) -> None:
    app = application(tmp_path, token=TOKEN, port=PORT, read_only=True)
    link = {"link": {"forwards": ["0=127.0.0.1:80"]}}
    refused = ask(app, "/api/relays", method="POST", body=link)
    assert refused.status == 403
    assert "read-only" in refused.json["error"]["message"]
    assert ask(app, "/api/relays/paths", method="POST", body={"text": CLUSTERS}).status == 200
    assert ask(app, "/api/relays/check", method="POST", body=link).status == 200
    assert ask(app, "/api/relays").json["relays"] == []
    assert not list(tmp_path.iterdir())


def test_another_site_and_a_client_without_the_token_start_no_relay(tmp_path: Path) -> None:
    app = application(tmp_path, token=TOKEN, port=PORT)
    link = {"link": {"forwards": ["0=127.0.0.1:80"]}}
    host, token = ("host", f"127.0.0.1:{PORT}"), ("authorization", f"Bearer {TOKEN}")
    for headers, status in (
        ((host,), 401),
        ((host, token, ("origin", "http://evil.example")), 403),
        ((("host", "evil.example"), token), 421),
    ):
        for path in ("/api/relays", "/api/relays/check", "/api/relays/paths"):
            assert ask(app, path, method="POST", body=link, headers=headers).status == status
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ends_by", [signal.SIGTERM, signal.SIGKILL])
def test_a_relay_ends_with_the_server_and_keeps_its_results(
    tmp_path: Path, target: str, ends_by: signal.Signals
) -> None:
    with serving(tmp_path) as server:
        _job, state = started(server, "page-relay-end", link={"forwards": [f"0={target}"]})
        relays = children(server.process.pid)
        assert relays
        through(state, b"x").close()
        os.kill(server.process.pid, ends_by)
        server.process.wait(60)
        until(lambda: not any(is_alive(pid) for pid in relays))
    summary = json.loads((Path(state["directory"]) / "summary.json").read_text())
    assert summary["ended"] == "stopped"
    assert summary["bytes"] == 2


@pytest.mark.parametrize(
    "opened",
    [
        Opened("socks", "127.0.0.1:1080", None, None),
        Opened("forward", "[::1]:8080", "near", "10.0.0.2:80"),
    ],
)
def test_a_listener_is_read_as_it_was_written(opened: Opened) -> None:
    assert Opened.parse(str(opened)) == opened
