"""Signals that end a command: SIGINT of Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]


def reason(number: int) -> str:
    """How it is told that a signal ended something."""
    return f"it was interrupted by {name(number)}"


def name(number: int) -> str:
    """``SIGKILL`` for 9; ``signal 64`` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def interrupt_on_signals() -> None:
    """From now on each of these signals raises KeyboardInterrupt with its :func:`reason`.

    Those that are ignored stay so: whoever starts a command with nohup means it.
    """
    for number in _heeded():
        signal.signal(number, _interrupt)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Within the block, ``handler`` takes these signals, if this is the main thread."""
    before = {number: signal.signal(number, handler) for number in _heeded()} if _is_main() else {}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def interrupting() -> Iterator[None]:
    """Within the block these signals raise KeyboardInterrupt with their :func:`reason`."""
    with handled(_interrupt):
        yield


def disregard() -> None:
    """From now on these signals do nothing, except where one of the blocks of this module says otherwise."""
    for number in _heeded():
        signal.signal(number, _nothing)


@contextmanager
def left_to_the_command() -> Iterator[None]:
    """Within the block, Ctrl-C is for the command that has the terminal."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if _is_main() else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


@contextmanager
def shared_with_the_command() -> Iterator[None]:
    """The same for a command that a process of its own runs, which Ctrl-C reaches, too."""
    before = signal.signal(signal.SIGINT, _nothing) if _is_main() else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _heeded() -> list[signal.Signals]:
    return [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; unlike SIG_IGN, programs do not inherit it."""


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(reason(number))
