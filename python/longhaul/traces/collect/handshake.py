"""The handshake of a session: greeting, request, agreement."""

from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.connections import Connection, Dial
from longhaul.traces.collect.wire import Json, WrongLineError, read_greeting, read_object, write_request


class RefusedError(LonghaulError):
    """The server has said no, and would again."""


class BusyError(ConnectionError):
    """The server has said no, but may say yes later."""


def ask(
    connection: Connection, request: Json, *, secret: bytes | None, until_ns: int, peer: object
) -> dict[str, Any]:
    """What the server at ``peer`` agrees to. Raises :class:`RefusedError`, :class:`BusyError`, OSError."""
    try:
        greeting = read_greeting(connection.line(until_ns))
        if greeting.wants_token and secret is None:
            remedy = "give its token by --token-file"
            raise RefusedError(Code.PEER_REFUSED, f"{peer}: the server requires a token", remedy=remedy)
        connection.send(write_request(request, greeting, secret), until_ns)
        reply = read_object(connection.line(until_ns))
    except WrongLineError as error:
        remedy = "does longhaul trace collect --serve run there?"
        raise RefusedError(Code.PEER_REFUSED, f"{peer}: {error}", remedy=remedy) from None
    if "error" in reply:
        if reply.get("later") is True:
            raise BusyError(str(reply["error"]))
        advice = reply.get("remedy")
        raise RefusedError(
            Code.PEER_REFUSED, f"{peer}: {reply['error']}", remedy=advice if isinstance(advice, str) else None
        )
    return reply


def begin(
    dial: Dial,
    request: Json,
    *,
    secret: bytes | None,
    until_ns: int,
    peer: object,
    buffer_bytes: int | None = None,
) -> tuple[Connection, dict[str, Any]]:
    """A new connection on which the server has agreed, and its words. Raises as :func:`ask`."""
    connection = dial(buffer_bytes, until_ns)
    try:
        reply = ask(connection, request, secret=secret, until_ns=until_ns, peer=peer)
    except BaseException:
        connection.close()
        raise
    return connection, reply
