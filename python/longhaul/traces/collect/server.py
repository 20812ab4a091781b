"""The server: one TCP and UDP port for a bounded number of clients.

Who has not said what it wants is a stranger: it has few seconds, and of too many the oldest goes.
"""

import os
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.connections import Connection, Endpoint, soon
from longhaul.traces.collect.probe_styles import LEAST_BUFFER
from longhaul.traces.collect.responder import answer, answers, unlock
from longhaul.traces.collect.udp_echo import new_session, session_of
from longhaul.traces.collect.wire import Json, WrongLineError, read_request, write_greeting, write_object

MOST_CLIENTS = 64
"""Connections that are served at once."""
MOST_STRANGERS = 64
STRANGER_S = 5.0

Special = Callable[[Connection, Json], bool]
"""Serves a request of another part; whether it keeps the connection, which is then not closed."""


@dataclass
class Server:
    """Listens from the start. :meth:`serve` answers until :meth:`close`."""

    endpoint: Endpoint
    """Where; port 0 is replaced by the port that was free."""
    secret: bytes | None = None
    log: Callable[[str], None] = lambda _line: None
    about: Mapping[str, Any] = field(default_factory=dict)
    """What a client that may ask hears of this host."""
    specials: dict[str, Special] = field(default_factory=dict)
    """Further requests, by name."""

    def __post_init__(self) -> None:
        """Open the port; raises :class:`LonghaulError`."""
        self._lock = threading.Lock()
        self._strangers: OrderedDict[int, Connection] = OrderedDict()
        self._clients: dict[int, Connection] = {}
        self._sessions: set[bytes] = set()
        self._closed = False
        self._listening, self._datagrams = _open(self.endpoint)
        self.endpoint = Endpoint(self.endpoint.host, self._listening.getsockname()[1])

    def start(self) -> threading.Thread:
        """Serve in a thread."""
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()
        return thread

    def serve(self) -> None:
        """Answer until it is closed."""
        threading.Thread(target=self._echo, daemon=True).start()
        while not self._closed:
            try:
                stream, address = self._listening.accept()
            except OSError as error:
                if self._closed:
                    return
                self.log(f"cannot accept: {error.strerror}")  # such as too many open files
                threading.Event().wait(0.1)
                continue
            connection = Connection(stream)
            self._welcome(connection)
            who = str(Endpoint(str(address[0]), int(address[1])))
            threading.Thread(target=self._meet, args=(connection, who), daemon=True).start()

    def close(self) -> None:
        """Stop listening, and end every connection."""
        self._closed = True
        for each in (self._listening, self._datagrams):
            with suppress(OSError):  # it wakes who waits there, connected or not
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        with self._lock:
            everyone = [*self._strangers.values(), *self._clients.values()]
        for connection in everyone:
            connection.abort()

    def _welcome(self, connection: Connection) -> None:
        with self._lock:
            self._strangers[id(connection)] = connection
            while len(self._strangers) > MOST_STRANGERS:
                _key, oldest = self._strangers.popitem(last=False)
                oldest.abort()

    def _meet(self, connection: Connection, who: str) -> None:
        kept = False
        try:
            request = self._listen(connection, who)
            if request is not None and self._admit(connection, who):
                kept = self._serve(connection, request, who)
        except WrongLineError as error:
            self.log(f"{who}: closed: {error}")
        except TimeoutError:
            self.log(f"{who}: closed: silent for too long")
        except OSError:
            pass  # it has gone, as it may at any time
        finally:
            with self._lock:
                self._strangers.pop(id(connection), None)
                self._clients.pop(id(connection), None)
            if not kept:
                connection.close()

    def _listen(self, connection: Connection, who: str) -> Json | None:
        until_ns = soon(STRANGER_S)
        connection.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        nonce = os.urandom(16)
        connection.send(write_greeting(nonce, wants_token=self.secret is not None), until_ns)
        request = read_request(connection.line(until_ns), nonce.hex(), self.secret)
        if request is None:
            self.log(f"{who}: refused: wrong token")
            remedy = "give the server's token by --token-file"
            connection.send(write_object({"error": "the token is wrong", "remedy": remedy}), until_ns)
        return request

    def _admit(self, connection: Connection, who: str) -> bool:
        with self._lock:
            self._strangers.pop(id(connection), None)
            admitted = len(self._clients) < MOST_CLIENTS
            if admitted:
                self._clients[id(connection)] = connection
        if not admitted:
            self.log(f"{who}: refused: {MOST_CLIENTS} connections are served already")
            connection.send(write_object({"error": "the server is busy", "later": True}), soon(STRANGER_S))
        return admitted

    def _serve(self, connection: Connection, request: Json, who: str) -> bool:
        what = request.get("do")
        if answers(request):
            answer(connection, request, {"ok": True})
        elif what == "hello":
            self.log(f"{who}: begins")
            connection.send(write_object({"ok": True, "host": dict(self.about)}), soon(STRANGER_S))
        elif what == "udp":
            self._hold_session(connection)
        elif isinstance(what, str) and what in self.specials:
            return self.specials[what](connection, request)
        else:
            connection.send(
                write_object({"error": "the server does not know this request"}), soon(STRANGER_S)
            )
            raise WrongLineError("an unknown request")
        return False

    def _hold_session(self, connection: Connection) -> None:
        session = new_session()
        with self._lock:
            self._sessions.add(session)
        try:
            connection.send(write_object({"ok": True, "session": session.hex()}), soon(STRANGER_S))
            connection.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
            connection.stream.settimeout(None)
            connection.stream.recv(1)
        finally:
            with self._lock:
                self._sessions.discard(session)

    def _echo(self) -> None:
        while not self._closed:
            try:
                data, address = self._datagrams.recvfrom(2048)
                if session_of(data) in self._sessions:
                    self._datagrams.sendto(data, address)
            except OSError:
                if self._closed:
                    return


def _open(endpoint: Endpoint) -> tuple[socket.socket, socket.socket]:
    place = endpoint.resolve()
    listening = socket.socket(place.family, socket.SOCK_STREAM)
    datagrams = socket.socket(place.family, socket.SOCK_DGRAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections begin with a window of 32 KiB, which the first data cannot overrun; those that are not
        # to be limited grow later.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LEAST_BUFFER)
        unlock(listening)
        listening.bind((place.host, place.port))
        listening.listen(MOST_STRANGERS)
        datagrams.bind((place.host, listening.getsockname()[1]))
    except OSError as error:
        listening.close()
        datagrams.close()
        message = f"cannot listen at {endpoint}: {(error.strerror or 'it fails').lower()}"
        raise LonghaulError(
            Code.CANNOT_LISTEN, message, remedy="name an address of this host and a free port"
        ) from None
    return listening, datagrams
