"""Sockets of runs: in a directory that only their user can open, whatever is there before."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.run import sockets

from . import neighbour

# What the second user tries with a run whose name is known.
INTRUDE = """
import os, socket, sys
place = sys.argv[1]
def connect():
    socket.socket(socket.AF_UNIX).connect(place + "/run.sock")
for what in (
    connect,
    lambda: os.listdir(place),
    lambda: open(place + "/run.token").read(),
    lambda: os.unlink(place + "/run.sock"),
    lambda: os.symlink("/etc/passwd", place + "/other.sock"),
):
    try:
        what()
    except PermissionError:
        continue
    raise SystemExit("came in")
"""


@pytest.fixture
def open_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that everybody can write, as /tmp, in which the runtime directory is."""
    place = Path(tempfile.mkdtemp(prefix="longhaul-test-"))
    place.chmod(0o1777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    yield place
    shutil.rmtree(place)


def a_link(place: Path) -> None:
    """To another directory of the victim: a run would write its socket there, and remove what was there."""
    (place / "home").mkdir(mode=0o700)
    (place / "longhaul").symlink_to("home")


def open_to_all(place: Path) -> None:
    (place / "longhaul").mkdir()
    (place / "longhaul").chmod(0o777)


def of_the_neighbour(place: Path) -> None:
    neighbour.require()
    (place / "longhaul").mkdir(mode=0o700)
    neighbour.give(place / "longhaul")


PLANTED: list[Callable[[Path], None]] = [
    a_link,
    open_to_all,
    of_the_neighbour,
    lambda place: (place / "longhaul").symlink_to("nowhere"),
    lambda place: (place / "longhaul").write_text("a file"),
    lambda place: os.mkfifo(place / "longhaul", 0o600),
]


def _claim() -> None:
    with sockets.claimed("run"):
        pass


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_directory_of_sockets_is_refused(open_place: Path, plant: Callable[[Path], None]) -> None:
    plant(open_place)
    before = sorted(open_place.rglob("*"))
    with pytest.raises(LonghaulError, match="is not a directory that only this user can open"):
        _claim()
    assert sorted(open_place.rglob("*")) == before


def test_the_second_user_reaches_no_socket_and_no_token(open_place: Path) -> None:
    neighbour.require()
    with sockets.claimed("run") as path, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        sockets.new_token(path)
        # A socket that everybody may write is still behind its directory.
        path.chmod(0o777)
        neighbour.run(INTRUDE, str(path.parent))
        assert sockets.is_alive(path)
