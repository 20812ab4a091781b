"""A server of a test's own, as a user starts it."""

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .answered import check_answer, check_event, read

PATIENCE_S = 120


@dataclass(frozen=True)
class Served:
    """A server that is up."""

    process: subprocess.Popen[str]
    port: int
    token: str
    directory: Path

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(self, path: str, body: Any = None, *, method: str | None = None) -> tuple[int, Any]:
        connection = self.connect()
        content = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {self.token}"}
        connection.request(method or ("GET" if body is None else "POST"), path, content, headers)
        answer = connection.getresponse()
        told = read(answer.read())
        connection.close()
        check_answer(method or ("GET" if body is None else "POST"), path, answer.status, told)
        return answer.status, told

    def start(self, text: str, *, mode: str, **more: Any) -> str:
        status, told = self.ask("/api/runs", {"text": text, "mode": mode, **more})
        assert status == 200, told
        return str(told["id"])

    @contextmanager
    def listen(self, run: str) -> Iterator[Iterator[tuple[str, Any]]]:
        """The events of a run as they come."""
        connection = self.connect()
        connection.request("GET", f"/api/events?run={run}", headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        assert answer.status == 200

        def events() -> Iterator[tuple[str, Any]]:
            name = ""
            for line in answer:
                word, _, rest = line.decode().rstrip("\n").partition(": ")
                if word == "event":
                    name = rest
                elif word == "data":
                    data = read(rest)
                    check_event(name, data)
                    yield name, data

        try:
            yield events()
        finally:
            connection.close()


@contextmanager
def serving(directory: Path) -> Iterator[Served]:
    """``longhaul ui`` in ``directory``, told to end at last."""
    process = subprocess.Popen(
        [sys.executable, "-m", "longhaul.cli.main", "ui", "--no-open", str(directory)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]{43})\n", process.stdout.readline())
    assert match, "the address is the first line"
    try:
        yield Served(process, int(match[1]), match[2], directory)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        process.stdout.close()


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (found := _stat(entry)) and int(found[1]) == pid
    ]


def is_alive(pid: int) -> bool:
    found = _stat(Path(f"/proc/{pid}"))
    return found is not None and found[0] != "Z"


def until(truth: Any) -> None:
    """Wait until ``truth()`` holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not truth():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def _stat(entry: Path) -> list[str] | None:
    try:
        return (entry / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
