"""The responder of a probe: it reads messages, and replies or closes at the right instant."""

import socket

from longhaul.traces.collect.connections import Connection, set_buffers, soon
from longhaul.traces.collect.probe_styles import LEAST_BUFFER, MOST_BUFFER, MOST_MESSAGE, MOST_MESSAGES
from longhaul.traces.collect.wire import Json, WrongLineError, whole, write_object

STREAM_S = 300.0
"""The longest that a short stream may take."""
MOST_IDLE_S = 3 * 3600
"""The longest that a client may be silent, if it said so."""

_WIDE_BUFFER = 1 << 20
_SO_BUF_LOCK = 72
"""Whether buffers are fixed (Linux 5.14); 0 lets the kernel grow them again."""


def answers(request: Json) -> bool:
    """Whether :func:`answer` knows what to do."""
    return request.get("do") in ("answer", "take", "drain")


def answer(connection: Connection, request: Json, agreed: Json) -> None:
    """Agree with the line ``agreed``, and serve until the other end closes or is silent too long.

    ``answer``: messages of ``sizes`` in turn, each answered by ``answer`` bytes when it is whole.
    ``take``: ``bytes``, read with a buffer of ``buffer``, then closed. ``drain``: whatever comes.
    Raises :class:`WrongLineError` for a wrong request, OSError for what a connection may meet.
    """
    idle_s = float(whole(request, "idle_s", 1, MOST_IDLE_S))
    match request["do"]:
        case "answer":
            sizes = _sizes(request)
            reply = bytes(whole(request, "answer", 1, MOST_MESSAGE))
            nodelay = int(bool(request.get("nodelay", True)))
            connection.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
            _agree(connection, agreed)
            _answer_messages(connection, sizes, reply, idle_s)
        case "take":
            count = whole(request, "bytes", 1, MOST_MESSAGE * MOST_MESSAGES)
            set_buffers(connection.stream, whole(request, "buffer", LEAST_BUFFER, MOST_BUFFER))
            _agree(connection, agreed)
            connection.read(count, soon(STREAM_S))
        case _:
            widen(connection.stream)
            _agree(connection, agreed)
            while True:
                connection.skim(soon(idle_s))


def widen(stream: socket.socket) -> None:
    """Let the kernel choose the buffers of a connection whose window began small."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _WIDE_BUFFER)
    unlock(stream)


def unlock(stream: socket.socket) -> None:
    """Let the kernel grow buffers that were set, where it is new enough to be told."""
    try:
        stream.setsockopt(socket.SOL_SOCKET, _SO_BUF_LOCK, 0)
    except OSError:
        return


def _answer_messages(connection: Connection, sizes: list[int], reply: bytes, idle_s: float) -> None:
    while True:
        for size in sizes:
            connection.read(1, soon(idle_s))
            connection.read(size - 1, soon(STREAM_S))
            connection.send(reply, soon(STREAM_S))


def _agree(connection: Connection, agreed: Json) -> None:
    connection.send(write_object(agreed), soon(10))


def _sizes(request: Json) -> list[int]:
    sizes = request.get("sizes")
    if not isinstance(sizes, list) or not 1 <= len(sizes) <= MOST_MESSAGES + 2:
        raise WrongLineError("sizes is not a list")
    return [whole({"size": size}, "size", 1, MOST_MESSAGE) for size in sizes]
