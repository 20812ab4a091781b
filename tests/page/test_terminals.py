"""Terminals of the page: shells in hosts of a live run."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find
from longhaul.page.host_requests import MOST_OF_A_RUN, MOST_TABS
from longhaul.page.terminals import KEPT_BYTES, MOST_UNREAD_BYTES

from .served import Served, children, is_alive, serving, until
from .websocket import RefusedError, attached

CACHE = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
"""Of this user, with the guest kernels."""
TEXT = """\
version: 1
name: shells
duration: 600s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 100Mbit}}
"""


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A shell without the files of whoever runs the tests: what those do takes time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("SHELL", "/bin/bash")
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("shells")) as served:
        can = served.ask("/api/state")[1]["can"]
        if not can["live"]:
            pytest.skip(f"live runs do not work here: {can['why']}")
        yield served


@pytest.fixture(scope="module")
def run(server: Served) -> Iterator[str]:
    found = server.start(TEXT, mode="live")
    until(lambda: server.ask(f"/api/runs/{found}/terminals", {"host": "near"})[0] == 200)
    yield found
    server.ask(f"/api/runs/{found}/stop", {})


def opened(server: Served, run: str, host: str = "near") -> str:
    status, told = server.ask(f"/api/runs/{run}/terminals", {"host": host})
    assert status == 200, told
    return f"/api/runs/{run}/terminals/{told['id']}"


def ended(server: Served, path: str) -> None:
    assert server.ask(path, method="DELETE")[0] == 200
    run, terminal = path.split("/")[3], path.split("/")[5]
    until(lambda: terminal not in _ids(server, run))


def _ids(server: Served, run: str) -> list[str]:
    return [each["id"] for each in server.ask(f"/api/runs/{run}/terminals")[1]["terminals"]]


def test_a_shell_runs_in_its_host_and_has_the_size_of_the_tab(server: Served, run: str) -> None:
    path = opened(server, run, "far")
    with attached(server, path) as tab:
        tab.say(columns=132, rows=43)
        tab.say(input="hostname; ip -br addr; stty size; tty; echo $((6*7))\r")
        tab.until_output(r"\bfar\n")
        tab.until_output(r"10\.\d+\.\d+\.\d+/")
        tab.until_output(r"\n43 132\n")
        tab.until_output(r"/dev/pts/\d+")
        tab.until_output(r"\n42\n")
        tab.say(columns=90, rows=20)
        tab.say(input="stty size\r")
        tab.until_output(r"\n20 90\n")
        # Ctrl-C is for the program in the foreground, and the shell has job control.
        tab.say(input="sleep 600\r")
        time.sleep(0.5)
        tab.say(input="\x03")
        tab.say(input="echo code $?; jobs; sleep 600 &\r")
        tab.until_output(r"\ncode 130\n")
        tab.say(input="exit 5\r")
        tab.until_closed()
        assert tab.told[-1] == {"exit_code": 5}
    assert path.rpartition("/")[2] not in _ids(server, run)


def test_a_host_has_its_processes_addresses_and_sockets(server: Served, run: str) -> None:
    path = opened(server, run, "far")
    with attached(server, path) as tab:
        listen = "import socket, time; s = socket.create_server(('0.0.0.0', 4321)); print(40 + 2)"
        tab.say(input=f'python3 -c "{listen}; time.sleep(600)"\r')
        tab.until_output(r"\n42\n")
        status, far = server.ask(f"/api/runs/{run}/hosts/far")
        assert status == 200, far
        assert any("create_server" in each["command"] for each in far["processes"])
        assert [each["local"] for each in far["sockets"] if each["state"] == "LISTEN"] == ["0.0.0.0:4321"]
        assert not any("host_shell" in each["command"] for each in far["processes"])
        near = server.ask(f"/api/runs/{run}/hosts/near")[1]
        assert not any("create_server" in each["command"] for each in near["processes"])
        assert near["sockets"] == []
        names = {each["name"]: each["addresses"] for each in near["interfaces"]}
        assert any(each.startswith("10.") for each in names["eth0"])
        assert near["interfaces"] != far["interfaces"]
        assert any(each.startswith("default") or "10." in each for each in near["routes"])
    ended(server, path)
    status, told = server.ask(f"/api/runs/{run}/hosts/nare")
    assert (status, told["error"]["message"]) == (400, 'there is no host "nare"; did you mean "near"?')


def test_a_shell_outlives_the_tab_that_shows_it_and_others_see_the_same(server: Served, run: str) -> None:
    path = opened(server, run)
    with attached(server, path) as tab:
        tab.say(input="kept=still-here; echo first screen\r")
        tab.until_output(r"\nfirst screen\n")
    with attached(server, path) as again, attached(server, path) as beside:
        again.until(lambda: {"replayed": True} in again.told)
        assert "\nfirst screen\n" in again.output
        again.say(input="echo $kept\r")
        for each in (again, beside):
            each.until_output(r"\nstill-here\n")
        again.say(columns=70, rows=30)
        beside.until(lambda: {"columns": 70, "rows": 30} in beside.told)
    ended(server, path)


def test_output_that_a_tab_does_not_draw_is_bounded_and_its_end_is_shown(server: Served, run: str) -> None:
    path = opened(server, run)
    with attached(server, path) as slow, attached(server, path) as quick:
        slow.draws = False
        slow.until(lambda: {"replayed": True} in slow.told)
        size = 4 * KEPT_BYTES
        quick.say(input=f"head -c {size} /dev/zero | tr '\\0' x | fold -w 60; echo the-end | tr a-z A-Z\r")
        quick.until_output("THE-END")
        slow.say(input=" ")
        slow.until(lambda: len(slow.output) >= MOST_UNREAD_BYTES // 2)
        assert len(slow.output) <= MOST_UNREAD_BYTES
        slow.draws = True
        slow.say(drawn=MOST_UNREAD_BYTES)
        slow.until_output("THE-END")
        assert {"clear": True} in slow.told
    ended(server, path)


def test_a_shell_that_floods_its_terminal_can_be_interrupted(server: Served, run: str) -> None:
    path = opened(server, run)
    with attached(server, path) as tab:
        tab.say(input="yes\r")
        tab.until(lambda: len(tab.output) > 500_000)
        tab.say(input="\x03")
        tab.say(input="echo over | tr a-z A-Z\r")
        tab.until_output("OVER")
    ended(server, path)


def test_shells_and_tabs_are_limited(server: Served, run: str) -> None:
    for each in _ids(server, run):
        ended(server, f"/api/runs/{run}/terminals/{each}")
    paths = [opened(server, run) for _number in range(MOST_OF_A_RUN)]
    status, told = server.ask(f"/api/runs/{run}/terminals", {"host": "near"})
    assert (status, told["error"]["message"]) == (409, f"this run has {MOST_OF_A_RUN} shells")
    held = [attached(server, paths[0]) for _number in range(MOST_TABS)]
    for each in held:
        each.__enter__()
    with attached(server, paths[0]) as one_more:
        one_more.until_closed()
        assert one_more.code == 4409
        assert "close one" in one_more.reason
    for each in held:
        each.__exit__(None, None, None)
    # Shells that no tab has ever shown end, too.
    for path in paths:
        ended(server, path)
    until(lambda: _ids(server, run) == [])


def test_nobody_without_the_token_or_from_another_site_gets_a_terminal(server: Served, run: str) -> None:
    path = opened(server, run)
    ours = f"longhaul.token.{server.token}"
    for protocols, headers in (
        (("longhaul.terminal",), ()),
        (("longhaul.terminal", "longhaul.token.wrong"), ()),
        ((ours, "longhaul.token.wrong"), ()),
        ((ours,), (("authorization", "Bearer wrong"),)),
    ):
        with (
            pytest.raises(RefusedError) as caught,
            attached(server, path, protocols=protocols, headers=headers),
        ):
            pass
        assert caught.value.status == 401
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}"):
        with pytest.raises(RefusedError) as caught, attached(server, path, origin=origin):
            pass
        assert (caught.value.status, "another site" in caught.value.error["message"]) == (403, True)
    with (
        pytest.raises(RefusedError) as caught,
        attached(server, f"{path}?token={server.token}", protocols=()),
    ):
        pass
    assert caught.value.status == 401
    bearer = (("authorization", f"Bearer {server.token}"),)
    with attached(server, path, protocols=(), headers=bearer) as tab:
        tab.say(input="echo a script | tr a-z A-Z\r")
        tab.until_output("A SCRIPT")
        tab.say(nonsense=1)
        tab.until_closed()
        assert (tab.code, "not known" in tab.reason) == (4400, True)
    ended(server, path)
    with attached(server, path) as tab:
        tab.until_closed()
        assert tab.code == 4404


def test_hosts_and_runs_without_terminals_say_why(server: Served, run: str) -> None:
    status, told = server.ask(f"/api/runs/{run}/terminals", {"host": "nare"})
    assert (status, told["error"]["message"]) == (400, 'there is no host "nare"; did you mean "near"?')
    traffic = "traffic: {probe: {kind: ping, from: near, to: far}}\n"
    simulated = server.start(TEXT.replace("600s", "1s") + traffic, mode="sim")
    status, told = server.ask(f"/api/runs/{simulated}/terminals", {"host": "near"})
    assert status == 409
    assert "a simulated run cannot be entered" in told["error"]["message"]


def test_a_host_on_the_virtual_clock_has_shells_and_a_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", CACHE)
    try:
        find()
    except LonghaulError as error:
        pytest.skip(error.message)
    busy = "programs: {busy: {run: ping -n -q -i 0.002 far, hosts: [near]}}\n"
    with serving(tmp_path) as server:
        run = server.start(TEXT + busy, mode="live", clock="virtual")
        until(lambda: server.ask(f"/api/runs/{run}/terminals", {"host": "near"})[0] == 200)
        with attached(server, f"/api/runs/{run}/terminals/{_ids(server, run)[0]}") as tab:
            tab.say(input="uname -r | tr a-z A-Z\r")
            tab.until_output("-LONGHAUL")
        status, state = server.ask(f"/api/runs/{run}/hosts/near")
        server.ask(f"/api/runs/{run}/stop", {})
    assert status == 200, state
    assert any(each["command"].startswith("ping -n -q") for each in state["processes"])


def test_the_end_of_the_run_ends_its_shells(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        if not server.ask("/api/state")[1]["can"]["live"]:
            pytest.skip("live runs do not work here")
        run = server.start(TEXT.replace("shells", "ending"), mode="live")
        until(lambda: server.ask(f"/api/runs/{run}/terminals", {"host": "near"})[0] == 200)
        path = f"/api/runs/{run}/terminals/{_ids(server, run)[0]}"
        other = opened(server, run, "far")
        with attached(server, path) as tab:
            tab.say(input="echo ready | tr a-z A-Z\r")
            tab.until_output("READY")
            server.ask(f"/api/runs/{run}/stop", {})
            tab.until_closed()
            assert "exit_code" in tab.told[-1]
        until(lambda: _ids(server, run) == [])
        status, told = server.ask(f"/api/runs/{run}/terminals", {"host": "near"})
        assert (status, "not under way" in told["error"]["message"]) == (409, True)
        with attached(server, other) as tab:
            tab.until_closed()
            assert tab.code == 4404


def test_the_end_of_the_server_ends_shells(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        if not server.ask("/api/state")[1]["can"]["live"]:
            pytest.skip("live runs do not work here")
        run = server.start(TEXT.replace("shells", "leaving"), mode="live")
        until(lambda: server.ask(f"/api/runs/{run}/terminals", {"host": "near"})[0] == 200)
        with attached(server, f"/api/runs/{run}/terminals/{_ids(server, run)[0]}") as tab:
            tab.say(input="echo ready | tr a-z A-Z\r")
            tab.until_output("READY")
            there = children(server.process.pid)
            server.process.terminate()
            tab.until_closed()
        server.process.wait(60)
        until(lambda: not any(is_alive(each) for each in there))
