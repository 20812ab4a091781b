"""A relay that others can reach says so, can ask for a password, and leads where it is allowed to."""

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.relay.socks_client import greet

from .conftest import LONGHAUL, Started


@contextmanager
def relaying(work: Path, environment: dict[str, str], *arguments: str) -> Iterator[tuple[int, str]]:
    """The port of a relay's SOCKS, and what it said before it was ready."""
    with subprocess.Popen(
        [LONGHAUL, "relay", "--delay", "1ms", *arguments],
        cwd=work,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr is not None
        said = ""
        while "Ctrl-C" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        found = re.search(r"socks \S+:(\d+)", said)
        assert found
        try:
            yield int(found[1]), said
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def target() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def through(port: int, host: str, to: int, password: bytes | None = None) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
        greet(stream, host, to, password=password)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_an_open_proxy_is_warned_of(work: Path, environment: dict[str, str]) -> None:
    with relaying(work, environment, "--socks", f"0.0.0.0:{free_port()}") as (_port, said):
        assert "accepts connections without a password: an open proxy" in said
    with relaying(work, environment, "--socks", f"127.0.0.1:{free_port()}") as (_port, said):
        assert "open proxy" not in said


def test_a_relay_with_a_password_connects_nobody_who_does_not_know_it(
    work: Path, environment: dict[str, str]
) -> None:
    (work / "secret").write_text("correct horse\n")
    flags = ("--socks", f"0.0.0.0:{free_port()}", "--password-file", "secret")
    with target() as to, relaying(work, environment, *flags) as (port, said):
        assert "open proxy" not in said
        assert "correct horse" not in said
        for password in (None, b"wrong"):
            with pytest.raises(LonghaulError, match="password"):
                through(port, "127.0.0.1", to, password)
        through(port, "127.0.0.1", to, b"correct horse")
    kept = [path for path in (work / "runs").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"correct horse" in path.read_bytes()]


def test_a_relay_leads_to_the_networks_that_it_is_allowed_to_and_no_others(
    work: Path, environment: dict[str, str], started: Started
) -> None:
    flags = ("--socks", f"127.0.0.1:{free_port()}", "--allow", "127.0.0.1/32", "--allow", "fd00::/8")
    with target() as to, relaying(work, environment, *flags) as (port, _said):
        through(port, "127.0.0.1", to)
        for host in ("127.0.0.2", "169.254.169.254", "::1"):
            with pytest.raises(LonghaulError):
                through(port, host, to)
    done = started("relay", "--socks", "127.0.0.1:0", "--allow", "everything")
    assert done.returncode == 2
    assert "everything" in done.stderr
