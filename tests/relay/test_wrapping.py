"""Wrappers in the path of messages."""

from dataclasses import replace
from pathlib import Path

import pytest

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.relay.wrappers import Chain, Message, Parameters, Wrapper

PARAMETERS = Parameters("t", 1, ("a", "b"), Path("nowhere"))


class Recorder:
    """Notes what it is asked; answers with ``change`` of the message."""

    def __init__(self, log: list[str], name: str, **change: object) -> None:
        self.log, self.name, self.change = log, name, change

    def setup(self, parameters: Parameters) -> None:
        self.log.append(f"{self.name} up in {parameters.clusters}")

    def operation(self, message: Message) -> Message | None:
        self.log.append(f"{self.name} {message.source}>{message.destination} {message.data!r}")
        return replace(message, **self.change) if self.change else None

    def teardown(self) -> None:
        self.log.append(f"{self.name} down")


def answer(*wrappers: Wrapper, data: bytes = b"x") -> object:
    with Chain(wrappers, PARAMETERS) as chain:
        return chain.call(3, 0, 1, data)


def test_wrappers_are_set_up_in_order_and_torn_down_in_reverse() -> None:
    log: list[str] = []
    answer(Recorder(log, "first", data=b"y"), Recorder(log, "second"))
    assert log == [
        "first up in ('a', 'b')",
        "second up in ('a', 'b')",
        "first a>b b'x'",
        "second a>b b'y'",
        "second down",
        "first down",
    ]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, None),
        ({"data": b"x"}, None),
        ({"extra_delay_ns": 5}, 5),
        ({"data": b"yy"}, b"yy"),
        ({"data": b"", "extra_delay_ns": 7}, (b"", 7)),
    ],
)
def test_an_operation_passes_on_delays_or_replaces(change: dict, wanted: object) -> None:
    assert answer(Recorder([], "only", **change)) == wanted


def test_delays_of_several_add_up_where_each_adds_to_what_it_got() -> None:
    class Adds:
        def setup(self, parameters: Parameters) -> None: ...
        def teardown(self) -> None: ...
        def operation(self, message: Message) -> Message:
            return replace(message, extra_delay_ns=message.extra_delay_ns + 10)

    assert answer(Adds(), Adds(), Adds()) == 30


@pytest.mark.parametrize("bad", [7, b"bytes", "text"])
def test_what_is_no_message_is_refused_with_the_wrappers_name(bad: object) -> None:
    class Odd:
        def setup(self, parameters: Parameters) -> None: ...
        def teardown(self) -> None: ...
        def operation(self, message: Message) -> object:
            return bad

    with pytest.raises(LonghaulError, match="wrapper Odd failed: TypeError"):
        answer(Odd())  # type: ignore[arg-type]


def test_a_negative_delay_is_refused() -> None:
    with pytest.raises(LonghaulError, match="less than 0"):
        answer(Recorder([], "hasty", extra_delay_ns=-1))


def test_after_a_failure_messages_pass_and_all_are_torn_down() -> None:
    log: list[str] = []

    class Fails(Recorder):
        def operation(self, message: Message) -> Message | None:
            raise OSError("no room")

    def both() -> None:
        with Chain([Recorder(log, "first"), Fails(log, "second")], PARAMETERS) as chain:
            assert chain.call(0, 0, 1, b"1") is None
            assert chain.call(0, 0, 1, b"2") is None

    with pytest.raises(LonghaulError, match="wrapper Fails failed: OSError: no room"):
        both()
    assert log[-3:] == ["first a>b b'1'", "second down", "first down"]


def test_what_was_not_set_up_is_not_torn_down() -> None:
    log: list[str] = []

    class Unable(Recorder):
        def setup(self, parameters: Parameters) -> None:
            raise LonghaulError(Code.RUN_FAILED, "cannot")

    chain = Chain([Recorder(log, "first"), Unable(log, "second")], PARAMETERS)
    with pytest.raises(LonghaulError, match="cannot"), chain:
        pass
    assert log == ["first up in ('a', 'b')", "first down"]
