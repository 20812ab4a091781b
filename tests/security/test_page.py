"""The page beside another user of this machine: connections, links, FIFOs, and saves at the same moment."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from page.served import Served, serving

from longhaul.page import folder
from longhaul.page.protocol import HEADER_S, MOST_UNASKED
from longhaul.page.refusals import RefusedError

from . import neighbour

# 1,500 half-sent heads of requests, and more as those are closed.
HALF_SENT = """
import resource, select, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
port, lasting_s, count = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
until, held, closed = time.monotonic() + lasting_s, [], 0
while time.monotonic() < until:
    while len(held) < count:
        stream = socket.create_connection(("127.0.0.1", port), timeout=5)
        stream.sendall(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1")
        held.append(stream)
    print("held", len(held), flush=True)
    poller = select.poll()
    for each in held:
        poller.register(each, select.POLLIN | select.POLLHUP)
    ended = {number for number, _ in poller.poll(200)}
    closed += len(ended)
    held = [each for each in held if each.fileno() not in ended]
    time.sleep(0.05)
print("closed", closed)
"""


@pytest.fixture
def server(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", environment["XDG_RUNTIME_DIR"])
    place = tmp_path / "shown"
    place.mkdir()
    with serving(place) as served:
        yield served


def test_half_sent_requests_of_another_user_do_not_blind_the_page(server: Served) -> None:
    neighbour.require()
    command = neighbour.command(HALF_SENT, str(server.port), "6", "1500")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as attack:
        assert attack.stdout is not None
        assert attack.stdout.readline().startswith("held 1500")
        took_s = []
        while attack.poll() is None and len(took_s) < 10:
            began_s = time.monotonic()
            assert server.ask("/api/quantity", {"kind": "rate", "text": "1Gbit"})[0] == 200
            took_s.append(time.monotonic() - began_s)
        assert max(took_s) < 5
        held = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        assert held < MOST_UNASKED + 100
        out = attack.communicate(timeout=60)[0]
        # Some wait in the kernel until there is room.
        assert int(out.rpartition("closed ")[2]) >= 1000


def test_a_request_that_does_not_arrive_is_hung_up_on(server: Served) -> None:
    import socket

    first, later = (socket.create_connection(("127.0.0.1", server.port), timeout=3 * HEADER_S) for _ in "ab")
    with first, later:
        first.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
        # One whose first request was answered, and whose second never comes whole.
        later.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        assert later.recv(12) == b"HTTP/1.1 200"
        time.sleep(0.3)
        later.sendall(b"GET / HTTP")
        began_s = time.monotonic()
        for stream in (first, later):
            with_end = b""
            try:
                while chunk := stream.recv(65_536):
                    with_end += chunk
            except ConnectionResetError:
                pass
        assert time.monotonic() - began_s < 2 * HEADER_S


def test_a_page_without_descriptors_is_quiet_about_it(tmp_path: Path) -> None:
    import sys

    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
from longhaul.cli.main import main
sys.argv = ["longhaul", "ui", "--no-open", sys.argv[1]]
main()
"""
    with (
        (tmp_path / "errors").open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-P", "-c", code, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        port = process.stdout.readline().split(":")[2].split("/")[0]
        command = [sys.executable, "-I", "-c", HALF_SENT, port, "4", "60"]
        subprocess.run(command, stdout=subprocess.DEVNULL, timeout=60, check=True)
        process.terminate()
    said = (tmp_path / "errors").read_text()
    assert "too many connections: only 40 files may be open" in said
    assert len(said) < 2_000, said


def test_links_and_fifos_lead_nowhere_else(server: Served, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("secret: 1\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.yaml").write_text("secret: 2\n")
    place = server.directory
    (place / "link.yaml").symlink_to(secret)
    (place / "directory").symlink_to(outside)
    (place / "deep.yaml").symlink_to("directory/c.yaml")
    os.mkfifo(place / "fifo.yaml")
    (place / "device.yaml").symlink_to("/dev/zero")
    (place / "loop.yaml").symlink_to("loop.yaml")
    (place / "good.yaml").write_text("version: 1\n")
    assert [each["name"] for each in server.ask("/api/state")[1]["files"]] == ["good.yaml"]
    for name in ("link.yaml", "deep.yaml", "fifo.yaml", "device.yaml", "loop.yaml"):
        status, told = server.ask(f"/api/files/{name}")
        assert status in (400, 403), (name, told)
        assert "secret" not in json.dumps(told).replace("secret.yaml", "")
        status, told = server.ask(f"/api/files/{name}", {"text": "x", "etag": None}, method="PUT")
        assert status in (400, 403, 409), (name, told)
    assert secret.read_text() == "secret: 1\n"
    assert (outside / "c.yaml").read_text() == "secret: 2\n"


def test_half_a_character_is_the_askers_mistake(server: Served) -> None:
    for path, body in (
        ("/api/check", {"text": "name: \ud800"}),
        ("/api/quantity", {"kind": "rate", "text": "1Gbit\udfff"}),
        ("/api/runs", {"text": "\udc80", "mode": "sim"}),
    ):
        status, told = server.ask(path, body)
        assert status == 400, told
        assert "the body is not JSON" in told["error"]["message"]
        assert "half of a character" in told["error"]["remedy"]
    status, told = server.ask("/api/quantity", {"kind": "rate", "text": "1Gbit \U0001f600"})
    assert status in (200, 400), told


def test_names_that_are_not_text_are_no_error(server: Served) -> None:
    place = os.fsencode(server.directory)
    for name in (b"\xff", b"bad\xed\xa0\x80"):
        os.makedirs(place + b"/runs/" + name + b"/20260101T000000Z-sim-00000000")
        Path(os.fsdecode(place + b"/runs/" + name + b"/20260101T000000Z-sim-00000000/run.json")).write_text(
            '{"status": "duration", "mode": "sim", "started": "2026-01-01T00:00:00+00:00"}'
        )
        Path(os.fsdecode(place + b"/" + name + b".yaml")).write_text("version: 1\n")
    assert server.ask("/api/state")[0] == 200
    assert server.ask("/api/runs")[0] == 200


def test_what_others_leave_under_the_name_of_a_part_is_not_written(tmp_path: Path) -> None:
    """The name was predictable, so a link there led the page to overwrite a file and to change its mode."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    victim.chmod(0o600)
    place = tmp_path / "shown"
    place.mkdir()
    for pid in (os.getpid(), os.getppid()):
        (place / f".a.yaml.{pid}.part").symlink_to(victim)
    folder.write(place, "a.yaml", "mine", before=None)
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == ("untouched", 0o600)
    assert (place / "a.yaml").read_text() == "mine"


def test_of_saves_at_the_same_moment_one_succeeds(tmp_path: Path) -> None:
    before: str | None = None
    for turn in range(60):
        barrier, saved, refused = threading.Barrier(4), [], []

        def save(number: int, turn: int = turn, before: str | None = before) -> None:
            barrier.wait()  # noqa: B023
            try:
                saved.append(folder.write(tmp_path, "a.yaml", f"{turn} {number}", before=before))  # noqa: B023
            except RefusedError as error:
                refused.append(error.status)  # noqa: B023

        threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(saved), refused) == (1, [409, 409, 409])
        before = saved[0]["etag"]
        assert folder.read(tmp_path, "a.yaml")["etag"] == before


def test_of_saves_by_two_servers_one_succeeds(tmp_path: Path) -> None:
    code = """
import sys, time
from pathlib import Path
from longhaul.page import folder
from longhaul.page.refusals import RefusedError
place, at_s, who = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
for turn in range(20):
    while time.time() < at_s + turn * 0.05: pass
    try:
        folder.write(place, f"{turn}.yaml", who, before=None)
        print("saved", turn)
    except RefusedError:
        pass
"""
    import sys

    at = str(time.time() + 3)
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", code, str(tmp_path), at, str(each)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for each in range(3)
    ]
    saved = sorted(line for each in processes for line in each.communicate(timeout=60)[0].splitlines())
    assert saved == sorted(f"saved {turn}" for turn in range(20))
