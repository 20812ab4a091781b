"""A read-only server changes nothing, and one at a Unix socket is only for its user and its proxies."""

import http.client
import json
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.page.addresses import addresses
from longhaul.page.application import Application, application
from longhaul.page.guard import Sites
from longhaul.page.services import Services
from longhaul.page.serving import ListenAddress, serve

from .asgi import PORT, TOKEN, ask

TEXT = "version: 1\nname: t\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n" + (
    "links: {l: {endpoints: [a, b], delay: 1ms}}\n"
)


@pytest.fixture
def app(tmp_path: Path) -> Application:
    (tmp_path / "kept.yaml").write_text(TEXT)
    return application(tmp_path, token=TOKEN, port=PORT, read_only=True)


def test_every_request_that_changes_something_is_refused(app: Application, tmp_path: Path) -> None:
    refused = 0
    for each in addresses(Services.of(tmp_path)):
        path = "/api" + re.sub(r"{(\w+)}", "kept.yaml", each.path)
        answer = ask(app, path, method=each.method, body=None if each.method in ("GET", "DELETE") else {})
        is_refused = answer.status == 403 and "read-only" in answer.json["error"]["message"]
        assert is_refused == each.changes, str(each)
        refused += is_refused
    assert refused == 25
    assert [path.name for path in tmp_path.iterdir()] == ["kept.yaml"]
    assert (tmp_path / "kept.yaml").read_text() == TEXT


def test_what_changes_nothing_is_answered_and_the_page_knows(app: Application) -> None:
    assert ask(app, "/api/state").json["read_only"] is True
    assert ask(app, "/api/files/kept.yaml").json["text"] == TEXT
    assert ask(app, "/api/check", method="POST", body={"text": TEXT}).status == 200
    edits = [{"op": "set", "path": ["links", "l", "delay"], "value": "2ms"}]
    assert ask(app, "/api/edit", method="POST", body={"text": TEXT, "edits": edits}).status == 200


def test_origins_belong_to_their_hosts() -> None:
    at_port = Sites(port=8765)
    assert at_port.origins(b"localhost:8765") == {b"http://localhost:8765", b"http://127.0.0.1:8765"}
    assert at_port.origins(b"localhost:8766") is None
    at_socket = Sites(port=None, origins=("https://lab.example.org",))
    assert at_socket.origins(b"localhost:9000") == {b"http://localhost:9000"}
    assert at_socket.origins(b"lab.example.org") == {b"https://lab.example.org"}
    for other in (
        b"evil.example",
        b"localhost.evil.example",
        b"127.0.0.1.evil.example:80",
        b"lab.example.org:1",
    ):
        assert at_socket.origins(other) is None


class _Connection(http.client.HTTPConnection):
    """To a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str, "subprocess.Popen[str]"]]:
    path = tmp_path / "page.sock"
    # What a killed server left behind.
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(path))
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "longhaul.cli.main", "ui", str(tmp_path), "--socket", str(path)),
            *("--origin", "https://lab.example.org", "--read-only"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    match = re.fullmatch(r"https://lab\.example\.org/#token=([\w-]{43})\n", process.stdout.readline())
    assert match
    yield path, match[1], process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait(60)
    process.stdout.close()


def test_a_unix_socket_is_its_users_alone_and_keeps_to_host_and_origin(
    served: tuple[Path, str, "subprocess.Popen[str]"],
) -> None:
    path, token, process = served
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def status(host: str, origin: str | None = None, bearer: str = token) -> int:
        connection = _Connection(path)
        headers = {"Host": host, "Authorization": f"Bearer {bearer}"}
        connection.request("GET", "/api/state", headers=headers | ({"Origin": origin} if origin else {}))
        answer = connection.getresponse()
        assert answer.status != 200 or json.loads(answer.read())["read_only"]
        connection.close()
        return answer.status

    assert status("localhost:8765") == status("127.0.0.1:8765", "http://127.0.0.1:8765") == 200
    assert status("lab.example.org", "https://lab.example.org") == 200
    assert status("evil.example") == 421
    assert status("lab.example.org", "https://evil.example") == 403
    assert status("localhost:8765", "http://localhost:9999") == 403
    assert status("lab.example.org", bearer="wrong") == 401
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    assert not path.exists()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (ListenAddress(port=8765, path=Path("a.sock")), "--socket and --port exclude each other"),
        (ListenAddress(origins=("https://lab.example.org",)), "--origin is the address of a proxy"),
        (
            ListenAddress(path=Path("a.sock"), origins=("lab.example.org",)),
            '"lab.example.org" is not an origin',
        ),
        (ListenAddress(path=Path("a.sock"), origins=("https://a/b",)), '"https://a/b" is not an origin'),
        (ListenAddress(path=Path("x" * 200)), "cannot listen at"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    address: ListenAddress, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LonghaulError, match=re.escape(message)):
        serve(tmp_path, address, open_browser=False, read_only=False, say=print)
    assert not any(tmp_path.iterdir())


def test_a_socket_in_use_and_a_file_in_its_place_are_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(LonghaulError, match="cannot listen at"):
            serve(tmp_path, ListenAddress(path=path), open_browser=False, read_only=False, say=print)
        assert path.is_socket()
    path.unlink()
    path.write_text("mine")
    with pytest.raises(LonghaulError, match="cannot listen at"):
        serve(tmp_path, ListenAddress(path=path), open_browser=False, read_only=False, say=print)
    assert path.read_text() == "mine"
