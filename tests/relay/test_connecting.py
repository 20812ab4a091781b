"""Standard input and output through a gateway, against a server that says what RFC 1928 and RFC 1929 say."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.relay.socks_client import greet

OPEN = b"\x05\x00\x00\x01\x7f\x02\x00\x0b\x14\x51"
"""A reply: succeeded, bound at 127.2.0.11:5201."""


@contextmanager
def gateway(script: list[tuple[bytes, bytes]], *, echo: bool = False) -> Iterator[str]:
    """A server that expects the first and answers the second of each pair; then it may echo."""
    wrong: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            stream, _ = listener.accept()
            with stream:
                for expected, reply in script:
                    got = b""
                    while len(got) < len(expected):
                        more = stream.recv(len(expected) - len(got))
                        if not more:
                            break
                        got += more
                    if got != expected:
                        wrong.append(f"got {got!r}, expected {expected!r}")
                        return
                    stream.sendall(reply)
                while echo and (data := stream.recv(4096)):
                    stream.sendall(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(5)
    assert not wrong, wrong


def asked(by: str, host: str, port: int, password: bytes | None = None) -> bytes:
    """What comes after the greeting."""
    address, _, number = by.rpartition(":")
    with socket.create_connection((address, int(number)), timeout=5) as stream:
        greet(stream, host, port, password=password)
        return stream.recv(16)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("n11", b"\x03\x03n11"),
        ("127.2.0.11", b"\x01\x7f\x02\x00\x0b"),
        ("fd00::1", b"\x04\xfd" + bytes(14) + b"\x01"),
    ],
)
def test_names_are_left_to_the_gateway_and_addresses_sent_as_bytes(host: str, address: bytes) -> None:
    request = b"\x05\x01\x00" + address + b"\x14\x51"
    with gateway([(b"\x05\x01\x00", b"\x05\x00"), (request, OPEN + b"hello")]) as by:
        assert asked(by, host, 5201) == b"hello"


def test_a_password_is_told_when_the_gateway_asks_for_it() -> None:
    request = b"\x05\x01\x00\x01\x7f\x02\x00\x0b\x00\x16"
    script = [
        (b"\x05\x02\x00\x02", b"\x05\x02"),
        (b"\x01\x08longhaul\x06secret", b"\x01\x00"),
        (request, OPEN + b"ok"),
    ]
    with gateway(script) as by:
        assert asked(by, "127.2.0.11", 22, b"secret") == b"ok"


@pytest.mark.parametrize(
    ("script", "password", "message"),
    [
        ([(b"\x05\x01\x00", b"\x05\xff")], None, "requires a password; name its file"),
        ([(b"\x05\x02\x00\x02", b"\x05\x02"), (b"\x01\x08longhaul\x01x", b"\x01\x01")], b"x", "refuses"),
        (
            [(b"\x05\x01\x00", b"\x05\x00"), (b"\x05\x01\x00\x03\x03n11\x00\x16", b"\x05\x05\x00\x01")],
            None,
            "cannot connect to n11:22: connection refused",
        ),
        (
            [(b"\x05\x01\x00", b"\x05\x00"), (b"\x05\x01\x00\x03\x03n11\x00\x16", b"\x05\x02\x00\x01")],
            None,
            "there is no path to the target",
        ),
    ],
)
def test_what_the_gateway_refuses_is_said(
    script: list[tuple[bytes, bytes]], password: bytes | None, message: str
) -> None:
    with gateway(script) as by, pytest.raises(LonghaulError, match=message):
        asked(by, "n11", 22, password)


def command(*arguments: str, given: bytes) -> "subprocess.CompletedProcess[bytes]":
    words = [sys.executable, "-m", "longhaul.cli.main", "relay", "connect", *arguments]
    return subprocess.run(words, input=given, capture_output=True, timeout=30, check=False)


def test_the_command_carries_standard_input_and_output_until_both_ends_are_done() -> None:
    content = bytes(range(256)) * 2000
    script = [(b"\x05\x01\x00", b"\x05\x00"), (b"\x05\x01\x00\x03\x03n11\x00\x16", OPEN)]
    with gateway(script, echo=True) as by:
        done = command("--by", by, "n11", "22", given=content)
    assert done.returncode == 0, done.stderr
    assert done.stdout == content


def test_the_command_says_that_no_gateway_is_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        by = f"127.0.0.1:{taken.getsockname()[1]}"
    done = command("--by", by, "n11", "22", given=b"")
    assert done.returncode == 1
    assert b"cannot reach the gateway" in done.stderr
    assert command("--by", "nonsense", "n11", "22", given=b"").returncode == 2


def test_the_command_imports_nothing_heavy() -> None:
    probe = (
        "import sys, longhaul.cli.main, longhaul.cli.relay, longhaul.relay.socks_client;"
        "print([m for m in ('pydantic', 'numpy', 'pyarrow', 'rich', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
