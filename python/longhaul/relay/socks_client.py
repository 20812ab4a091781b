"""Standard input and output as a connection through a gateway: a SOCKS 5 client (RFC 1928, RFC 1929).

For OpenSSH's ProxyCommand, so this module imports the standard library alone and starts quickly.
"""

import os
import selectors
import socket
from ipaddress import ip_address
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular

USER = b"longhaul"
_VERSION = 5
_NO_AUTHENTICATION = 0
_PASSWORD = 2
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REPLIES = {
    1: "the gateway failed",
    2: "the gateway does not allow it: there is no path to the target",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "connection refused",
    6: "TTL expired",
    7: "the gateway does not support the command",
    8: "the gateway does not support the address type",
}
"""RFC 1928, section 6."""
_LONGEST_PASSWORD = 1 << 12
"""Bytes of a password file that are read."""
_PIECE = 1 << 16
_WITHIN_S = 30.0


def connect(by: str, host: str, port: int, *, password_file: Path | None = None) -> None:
    """Carry standard input to ``host`` by the gateway ``by`` (ADDRESS:PORT), and its answers to output.

    Returns when the other end has closed. Raises LonghaulError.
    """
    password = None
    if password_file is not None:
        try:
            password = read_regular(password_file, most_bytes=_LONGEST_PASSWORD).splitlines()[0]
        except (OSError, IndexError) as error:
            raise LonghaulError(
                Code.PASSWORD_INVALID, f"cannot read a password in {password_file}", exit_code=2
            ) from error
    address, _, gateway_port = by.rpartition(":")
    if not address or not gateway_port.isdecimal():
        remedy = "write for example 127.1.0.1:1080"
        raise LonghaulError(Code.ADDRESS_MALFORMED, f'"{by}" is not ADDRESS:PORT', remedy=remedy, exit_code=2)
    try:
        place = (address.removeprefix("[").removesuffix("]"), int(gateway_port))
        stream = socket.create_connection(place, timeout=_WITHIN_S)
    except OSError as error:
        why = error.strerror or str(error)
        remedy = "start it with: longhaul relay SCENARIO"
        raise LonghaulError(
            Code.GATEWAY_UNREACHABLE, f"cannot reach the gateway at {by}: {why}", remedy=remedy
        ) from error
    with stream:
        try:
            greet(stream, host, port, password=password)
        except OSError as error:
            raise LonghaulError(
                Code.GATEWAY_UNREACHABLE, f"the gateway at {by} does not answer as SOCKS 5 does: {error}"
            ) from error
        stream.settimeout(None)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        carry(stream, 0, 1)


def greet(stream: socket.socket, host: str, port: int, *, password: bytes | None) -> None:
    """Ask the gateway behind ``stream`` for a connection. Raises LonghaulError and OSError."""
    offered = [_NO_AUTHENTICATION] if password is None else [_NO_AUTHENTICATION, _PASSWORD]
    stream.sendall(bytes([_VERSION, len(offered), *offered]))
    _version, method = _exactly(stream, 2)
    if method == _PASSWORD and password is not None:
        stream.sendall(bytes([1, len(USER)]) + USER + bytes([len(password)]) + password)
        if _exactly(stream, 2)[1] != 0:
            raise LonghaulError(
                Code.PASSWORD_INVALID,
                "the gateway refuses the password",
                remedy="see password_file in its scenario",
            )
    elif method != _NO_AUTHENTICATION:
        raise LonghaulError(
            Code.PASSWORD_INVALID,
            "the gateway requires a password",
            remedy="name its file with --password-file",
        )
    stream.sendall(bytes([_VERSION, _CONNECT, 0]) + _address(host) + port.to_bytes(2, "big"))
    _version, reply, _reserved, kind = _exactly(stream, 4)
    if reply != 0:
        raise LonghaulError(
            Code.GATEWAY_UNREACHABLE,
            f"cannot connect to {host}:{port}: {_REPLIES.get(reply, f'reply {reply}')}",
        )
    length = {_IPV4: 4, _IPV6: 16}.get(kind)
    _exactly(stream, (_exactly(stream, 1)[0] if length is None else length) + 2)


def carry(stream: socket.socket, incoming: int, outgoing: int) -> None:
    """Copy between ``stream`` and two descriptors until the stream's other end has closed."""
    with selectors.DefaultSelector() as ready:
        ready.register(stream, selectors.EVENT_READ)
        try:
            ready.register(incoming, selectors.EVENT_READ)
        except PermissionError:
            # A file is always ready, and cannot be waited for.
            _send_all(stream, incoming)
        while True:
            for key, _events in ready.select():
                if key.fileobj is stream:
                    try:
                        data = stream.recv(_PIECE)
                    except ConnectionResetError as error:
                        raise LonghaulError(Code.GATEWAY_UNREACHABLE, "the connection was reset") from error
                    if not data:
                        return
                    _write_all(outgoing, data)
                elif data := os.read(incoming, _PIECE):
                    stream.sendall(data)
                else:
                    ready.unregister(incoming)
                    stream.shutdown(socket.SHUT_WR)


def _send_all(stream: socket.socket, file: int) -> None:
    while data := os.read(file, _PIECE):
        stream.sendall(data)
    stream.shutdown(socket.SHUT_WR)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _address(host: str) -> bytes:
    try:
        address = ip_address(host)
    except ValueError:
        try:
            name = host.encode("idna") if not host.isascii() else host.encode()
        except UnicodeError:
            name = b""
        if not 1 <= len(name) <= 255:
            raise LonghaulError(
                Code.NAME_INVALID, f'"{host[:60]}" is not a name of a host', exit_code=2
            ) from None
        return bytes([_NAME, len(name)]) + name
    return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed


def _exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise ConnectionError("it closed the connection")
        data += more
    return data
