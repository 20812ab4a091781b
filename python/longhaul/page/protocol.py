"""HTTP with timeouts, so that slow clients do not block others.

Connections whose request has not arrived completely belong to anybody on this machine. They have little
time, and when there are too many, the one that has waited longest is closed.
"""

import asyncio
import logging
import resource
import time
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_S = 10.0
"""For the head of a request to arrive, from the connection or from the last answer."""
MOST_UNASKED = 256
"""Connections at once that have not asked anything yet."""
_QUIET_S = 60.0
"""Least time between two log messages about missing descriptors."""

_log = logging.getLogger("uvicorn.error")


class PageProtocol(H11Protocol):
    """A connection to the page's server."""

    _unasked: ClassVar[dict["PageProtocol", None]] = {}
    """In the order in which they came."""
    _deadline: asyncio.TimerHandle | None = None
    _is_upgraded = False

    def connection_made(self, transport: Any) -> None:
        """Give it some time for its first request, and close the oldest of too many."""
        super().connection_made(transport)
        self._expect()
        while len(self._unasked) > MOST_UNASKED:
            next(iter(self._unasked))._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        waits = self.cycle is None or self.cycle.response_complete
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._arrived()
        elif waits and self._deadline is None and not self._is_upgraded and not self.transport.is_closing():
            self._expect()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand the connection over: its request has arrived, and WebSocket has timeouts of its own."""
        self._is_upgraded = True
        self._arrived()
        super().handle_websocket_upgrade(event)

    def _expect(self) -> None:
        self._unasked[self] = None
        self._deadline = asyncio.get_running_loop().call_later(HEADER_S, self._give_up)

    def _arrived(self) -> None:
        self._unasked.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._arrived()
        self.transport.abort()


def prepare_loop() -> None:
    """Have the running loop say once in a while, in one line, that there are no descriptors."""

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if "out of system resource" not in str(context.get("message")):
            loop.default_exception_handler(context)
        else:
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            _log.warning("too many connections: only %d files may be open; try ulimit -n 4096", limit)

    asyncio.get_running_loop().set_exception_handler(handle)
    _log.addFilter(_Seldom())


class _Seldom(logging.Filter):
    """Lets a warning through once a minute: anybody on this machine can cause some."""

    def __init__(self) -> None:
        super().__init__()
        self._said_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if record.levelno != logging.WARNING or now - self._said_s.get(record.msg, -_QUIET_S) >= _QUIET_S:
            self._said_s[record.msg] = now
            return True
        return False


def raise_file_limit() -> None:
    """Let this process open as many files as it may ask for."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
