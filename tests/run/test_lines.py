"""A conversation in lines, however its bytes come."""

import socket

import pytest

from longhaul.run.session import Line


@pytest.fixture
def ends() -> tuple[socket.socket, Line]:
    ours, theirs = socket.socketpair()
    return theirs, Line(ours)


def test_two_objects_that_come_at_once_are_both_heard(ends: tuple[socket.socket, Line]) -> None:
    other, line = ends
    other.sendall(b'{"event": "begun"}\n{"event": "gone"}\n')
    assert line.hear(1) == {"event": "begun"}
    # The socket has nothing any more, so nobody who waits for it would hear of the second.
    assert line.is_more
    assert line.hear(1) == {"event": "gone"}
    assert not line.is_more


def test_an_object_in_pieces_is_heard_once_it_is_whole(ends: tuple[socket.socket, Line]) -> None:
    other, line = ends
    other.sendall(b'{"event": ')
    with pytest.raises(TimeoutError):
        line.hear(0.01)
    other.sendall(b'"begun"}\n{')
    assert line.hear(1) == {"event": "begun"}
    assert not line.is_more


def test_an_end_that_is_gone_is_none_after_all_that_it_said(ends: tuple[socket.socket, Line]) -> None:
    other, line = ends
    other.sendall(b'{"event": "ended"}\n{"half')
    other.close()
    assert line.hear(1) == {"event": "ended"}
    assert line.hear(1) is None
