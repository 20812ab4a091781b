"""Access control of the server: only its own page, with the token."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from secrets import compare_digest

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longhaul.diagnostics import Code
from longhaul.page.responses.texts import Refused

MOST_BYTES = 2 << 20
"""Of the body of a request."""

TOKEN_PROTOCOL = "longhaul.token."
"""Of a WebSocket: the name of a protocol that begins with this ends with the token."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Of all answers that do not say otherwise."""


_LOOPBACK = re.compile(rb"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?")


class Sites:
    """Where a browser may have the page from: the Host of its requests, and the Origins that go with each."""

    def __init__(self, *, port: int | None, origins: Iterable[str] = ()) -> None:
        """The page is at ``port`` of 127.0.0.1, or at a Unix socket (``None``) behind a proxy or ssh.

        At a socket, a Host is this machine's at any port, or that of one of ``origins``
        (``https://lab.example.org``), and the Origin is the one with this Host.
        """
        self._known: dict[bytes, frozenset[bytes]] = {}
        self._is_socket = port is None
        if port is not None:
            hosts = [f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")]
            self._known = dict.fromkeys(hosts, frozenset(b"http://" + host for host in hosts))
        for origin in origins:
            self._known[origin.partition("://")[2].encode()] = frozenset((origin.encode(),))

    def origins(self, host: bytes) -> frozenset[bytes] | None:
        """The Origins of requests to this Host; ``None`` if they are for another server."""
        if self._is_socket and host not in self._known and _LOOPBACK.fullmatch(host):
            return frozenset((b"http://" + host,))
        return self._known.get(host)


class Guard:
    """Lets a request through if its Host is this server, its Origin too, and if it knows the token.

    The page itself needs no token: it holds nothing that is not in the package. Bodies end after
    :data:`MOST_BYTES`.
    """

    def __init__(self, app: ASGIApp, *, token: str, sites: Sites) -> None:
        """Stand before ``app``, which browsers have from ``sites``."""
        self._app = app
        self._token = token.encode()
        self._sites = sites

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await _refuse(send, Code.PAGE_REQUEST, *refused, kind=scope["type"])
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MOST_BYTES:
                raise HTTPException(413)
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _value in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in own)]
            await send(message)

        await self._app(scope, counted, with_headers)

    def _refused(self, scope: Scope) -> tuple[int, str, str] | None:
        """Status, message and remedy, unless all is well."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        hosts, origins = headers.get(b"host", []), headers.get(b"origin", [])
        allowed = self._sites.origins(hosts[0]) if len(hosts) == 1 else None
        if allowed is None:
            return (
                421,
                "the request is for another server",
                _REMEDY,
            )
        if any(origin not in allowed for origin in origins):
            return 403, "the request comes from another site", _REMEDY
        if scope["type"] == "websocket" or scope["path"].startswith("/api/"):
            given = headers.get(b"authorization", [])
            word, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
            if scope["type"] == "websocket" and not given:
                word, token = b"bearer", _token_of_protocols(scope["subprotocols"])
            if word.lower() != b"bearer" or not compare_digest(token, self._token):
                return 401, "the token is missing or wrong", _REMEDY
        length = headers.get(b"content-length", [b"0"])[0]
        if not length.isdigit() or int(length) > MOST_BYTES:
            return TOO_LARGE
        return None


def _token_of_protocols(names: Sequence[str]) -> bytes:
    """The token of a WebSocket: a page cannot send headers with it, but names of protocols."""
    found = [name.removeprefix(TOKEN_PROTOCOL) for name in names if name.startswith(TOKEN_PROTOCOL)]
    return found[0].encode() if len(found) == 1 else b""


_REMEDY = "open the address that longhaul ui printed last"
TOO_LARGE = (413, f"the request has more than {MOST_BYTES >> 20} MiB", "send less")


async def _refuse(
    send: Send, code: Code, status: int, message: str, remedy: str, *, kind: str = "http"
) -> None:
    told: Refused = {"error": {"code": code, "message": message, "remedy": remedy}}
    body = json.dumps(told).encode()
    headers = {**HEADERS, "content-type": "application/json", "content-length": str(len(body))}
    if status == 413:
        headers["connection"] = "close"
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    response = "websocket.http.response" if kind == "websocket" else "http.response"
    await send({"type": f"{response}.start", "status": status, "headers": pairs})
    await send({"type": f"{response}.body", "body": body})
