"""A client of the page's WebSockets, as a browser is one."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wsproto import ConnectionType, WSConnection, events

from .served import PATIENCE_S, Served

COLOURS = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>])")


class RefusedError(Exception):
    """A handshake that the server refused."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.error = json.loads(body)["error"]


class Attached:
    """A terminal that is shown."""

    def __init__(self, stream: socket.socket, connection: WSConnection) -> None:
        self._stream, self._connection = stream, connection
        self.output = ""
        self.told: list[dict[str, Any]] = []
        self.code: int | None = None
        self.reason = ""
        self.draws = True
        # What came with the end of the handshake.
        self._take_events()

    def say(self, **what: Any) -> None:
        self._stream.sendall(self._connection.send(events.TextMessage(data=json.dumps(what))))

    def until(self, truth: Callable[[], Any]) -> None:
        """Read until ``truth()`` holds."""
        while not truth():
            assert self.code is None, f"closed: {self.code} {self.reason}; {self.output[-300:]!r}"
            self.read()

    def until_output(self, pattern: str) -> str:
        found: list[str] = []

        def is_there() -> bool:
            match = re.search(pattern, self.output)
            if match:
                found.append(match[0])
                self.output = self.output[match.end() :]
            return match is not None

        self.until(is_there)
        return found[0]

    def until_closed(self) -> None:
        while self.code is None:
            self.read()

    def read(self) -> None:
        data = self._stream.recv(1 << 16)
        self._connection.receive_data(data or None)
        self._take_events()
        if not data and self.code is None:
            self.code = 1006

    def _take_events(self) -> None:
        for event in self._connection.events():
            if isinstance(event, events.BytesMessage):
                self.output += COLOURS.sub("", event.data.decode(errors="replace")).replace("\r", "")
                if self.draws:
                    self.say(drawn=len(event.data))
            elif isinstance(event, events.TextMessage):
                self.told.append(json.loads(event.data))
            elif isinstance(event, events.Ping):
                self._stream.sendall(self._connection.send(event.response()))
            elif isinstance(event, events.CloseConnection):
                self.code, self.reason = event.code, event.reason or ""


@contextmanager
def attached(
    server: Served,
    path: str,
    *,
    protocols: tuple[str, ...] | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    origin: str | None = None,
) -> Iterator[Attached]:
    """The WebSocket at ``path``. Raises RefusedError."""
    host = f"127.0.0.1:{server.port}"
    known = ("longhaul.terminal", f"longhaul.token.{server.token}") if protocols is None else protocols
    connection = WSConnection(ConnectionType.CLIENT)
    more = [(b"origin", (origin or f"http://{host}").encode())]
    more += [(name.encode(), value.encode()) for name, value in headers]
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as stream:
        request = events.Request(host=host, target=path, subprotocols=list(known), extra_headers=more)
        stream.sendall(connection.send(request))
        body, status = b"", None
        while True:
            connection.receive_data(stream.recv(1 << 16) or None)
            for event in connection.events():
                if isinstance(event, events.AcceptConnection):
                    yield Attached(stream, connection)
                    return
                if isinstance(event, events.RejectConnection):
                    status = event.status_code
                elif isinstance(event, events.RejectData):
                    body += event.data
                    if event.body_finished:
                        assert status is not None
                        raise RefusedError(status, body)
