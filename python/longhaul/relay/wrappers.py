"""Wrappers: programs' own functions in the path of messages.

After PATHS (Bjorndalen et al.), where a path is a list of wrappers between a thread and what it talks to.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.lower.relay import RelayPlan


@dataclass(frozen=True)
class Parameters:
    """What a wrapper may want to know before the first message."""

    name: str
    """Of the scenario."""
    seed: int
    clusters: tuple[str, ...]
    directory: Path
    """The run directory, where a wrapper may leave files."""


@dataclass(frozen=True)
class Message:
    """Bytes of one connection that are delayed together: a piece of a stream, or a framed message."""

    connection: int
    """Number of the connection, from 0."""
    source: str
    """The cluster that they come from."""
    destination: str
    """The cluster that they go to."""
    data: bytes
    extra_delay_ns: int = 0
    """Delay beside that of the links; at least 0."""


@runtime_checkable
class Wrapper(Protocol):
    """Three functions around messages; :meth:`operation` is called from one thread at a time."""

    def setup(self, parameters: Parameters) -> None:
        """Prepare, before anything listens."""

    def operation(self, message: Message) -> Message | None:
        """The message to pass on, changed by ``dataclasses.replace``; ``None``: as it came."""

    def teardown(self) -> None:
        """Conclude, when nothing passes any longer; called even when another wrapper failed."""


Answer = None | int | bytes | tuple[bytes, int]
"""To the gateway: pass on, with this delay, this instead, or both."""


class Chain(AbstractContextManager["Chain"]):
    """Wrappers as the gateway calls them: the first sees a message first."""

    def __init__(self, wrappers: Sequence[Wrapper], parameters: Parameters) -> None:
        """Of ``wrappers``, which are set up on entry."""
        self._wrappers = wrappers
        self._parameters = parameters
        self._ready: list[Wrapper] = []
        self._failure: LonghaulError | None = None

    @classmethod
    def of(cls, wrappers: Sequence[Wrapper], planned: RelayPlan, directory: Path) -> Self:
        """For one process of a relay."""
        names = tuple(each.name for each in planned.clusters)
        return cls(wrappers, Parameters(planned.plan["name"], planned.plan["seed"], names, directory))

    def __enter__(self) -> Self:
        """Set all wrappers up; if one fails, tear down those before it."""
        try:
            for wrapper in self._wrappers:
                wrapper.setup(self._parameters)
                self._ready.append(wrapper)
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tear down those that are up; raises LonghaulError if one failed meanwhile."""
        self._tear_down()
        if self._failure is not None and error is None:
            raise self._failure

    def _tear_down(self) -> None:
        for wrapper in reversed(self._ready):
            wrapper.teardown()

    def call(self, connection: int, source: int, destination: int, data: bytes) -> Answer:
        """What to do with a message, in the gateway's words. After a failure all pass as they are."""
        if self._failure is not None:
            return None
        names = self._parameters.clusters
        message = Message(connection, names[source], names[destination], bytes(data))
        for wrapper in self._wrappers:
            try:
                message = _checked(wrapper.operation(message)) or message
            except Exception as error:  # noqa: BLE001 (anything may fail in code of others)
                what = f"wrapper {type(wrapper).__name__} failed: {type(error).__name__}: {error}"
                self._failure = LonghaulError(Code.RUN_FAILED, what, remedy="results are kept", exit_code=1)
                self._failure.__cause__ = error
                return None
        return _answer(message, data)


def _checked(message: object) -> Message | None:
    if message is None:
        return None
    if not isinstance(message, Message):
        raise TypeError(f"operation returned {type(message).__name__}, not a Message or None")
    if message.extra_delay_ns < 0:
        raise ValueError(f"extra_delay_ns is {message.extra_delay_ns}, less than 0")
    return message


def _answer(message: Message, data: bytes) -> Answer:
    same = message.data == data
    if same:
        return message.extra_delay_ns or None
    return (message.data, message.extra_delay_ns) if message.extra_delay_ns else message.data
