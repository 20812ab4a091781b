"""Standard output and error that may be closed, a pipe without a reader, or a lost terminal.

What a command does matters more than who reads of it: its results are written and its exit code is told.
"""

import errno
import os
import sys
from typing import Any, TextIO

_GONE = (errno.EPIPE, errno.EIO, errno.EBADF)


def survive_closed_streams() -> None:
    """From now on nothing that is printed fails because its reader is gone."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # A file that is opened later must not become standard output.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Forgiving):
            setattr(sys, name, _Forgiving(stream))


class _Forgiving:
    """A text stream that drops everything from the moment that its other end is gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_gone = False

    def write(self, text: str) -> int:
        if not self._is_gone:
            try:
                return self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        if not self._is_gone:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if error.errno not in _GONE:
            raise error
        self._is_gone = True
        # What is buffered would fail once more when the interpreter ends.
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
