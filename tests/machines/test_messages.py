"""What comes from other machines is bounded, and refused with its reason."""

import base64
import io
import zlib

import pytest

from longhaul.machines import messages


def test_a_message_comes_as_it_was_sent() -> None:
    sent = io.BytesIO()
    messages.Writer(sent).send({"is": "alive"})
    assert messages.read(io.BytesIO(sent.getvalue())) == {"is": "alive"}
    assert messages.read(io.BytesIO()) is None
    with pytest.raises(ValueError, match="not a message"):
        messages.read(io.BytesIO(b"[1]\n"))


def test_a_line_without_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="a message without end"):
        messages.read(io.BytesIO(b"x" * 1000))


def test_what_is_packed_is_no_more_than_agents_send(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_BYTES", 1000)
    packed = [base64.b64encode(zlib.compress(bytes(size))).decode() for size in (1000, 1_000_000)]
    assert messages.unpacked(packed[0], zlib.decompressobj(), what="records") == bytes(1000)
    with pytest.raises(ValueError, match="damaged records: more than agents send at once"):
        messages.unpacked(packed[1], zlib.decompressobj(), what="records")
    with pytest.raises(ValueError, match="damaged captures"):
        messages.unpacked(base64.b64encode(b"xyz").decode(), zlib.decompressobj(), what="captures")
