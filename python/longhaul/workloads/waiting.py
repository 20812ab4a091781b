"""Ranks that sleep while they wait for messages.

An MPI library polls: a rank that waits uses a whole core. With more ranks than cores, and on the virtual
clock, where each poll stops the program, sleeping between polls is faster for all.
"""

import ctypes
import time
from typing import Any

PR_SET_TIMERSLACK = 29
"""prctl(2): a sleep ends up to 50 us late unless the program asks for less."""

FIRST_SLEEP_S = 5e-6
LONGEST_SLEEP_S = 200e-6
"""A message makes progress only when the library polls."""
SHARE = 0.05
"""Of what was waited so far: a message is noticed so much later, at most, or by the first sleep."""


class SleepingComm:
    """A communicator of mpi4py whose messages, sums and barriers sleep while they wait.

    Collective operations are the library's nonblocking ones. All else is the communicator's own, and polls.
    """

    def __init__(self, comm: Any) -> None:
        """Of the same ranks as ``comm``. Sleeps of this thread become exact."""
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
        self._comm = comm

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def Barrier(self) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._comm.Ibarrier())

    def Send(self, values: Any, to: int, tag: int = 0) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._comm.Isend(values, to, tag))

    def Recv(self, values: Any, source: int, tag: int = 0) -> None:  # noqa: N802
        """As of MPI, from one rank."""
        sleep_until_complete(self._comm.Irecv(values, source, tag))

    def Isend(self, values: Any, to: int, tag: int = 0) -> "SleepingRequest":  # noqa: N802
        """As of MPI."""
        return SleepingRequest(self._comm.Isend(values, to, tag))

    def Irecv(self, values: Any, source: int, tag: int = 0) -> "SleepingRequest":  # noqa: N802
        """As of MPI."""
        return SleepingRequest(self._comm.Irecv(values, source, tag))

    def Sendrecv(  # noqa: N802
        self, outgoing: Any, to: int, tag: int, incoming: Any, source: int, incoming_tag: int
    ) -> None:
        """As of MPI."""
        receives = self._comm.Irecv(incoming, source, incoming_tag)
        sleep_until_complete(receives, self._comm.Isend(outgoing, to, tag))

    def Allreduce(self, outgoing: Any, incoming: Any, operation: Any) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._comm.Iallreduce(outgoing, incoming, operation))

    def Allgather(self, outgoing: Any, incoming: Any) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._comm.Iallgather(outgoing, incoming))

    def Alltoall(self, outgoing: Any, incoming: Any) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._comm.Ialltoall(outgoing, incoming))

    def Alltoallv(self, outgoing: Any, incoming: Any) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._comm.Ialltoallv(outgoing, incoming))


class SleepingRequest:
    """A message on its way."""

    def __init__(self, request: Any) -> None:
        """Of mpi4py."""
        self._request = request

    def Wait(self) -> None:  # noqa: N802
        """As of MPI."""
        sleep_until_complete(self._request)


def sleep_until_complete(*requests: Any) -> None:
    """Sleep until all nonblocking operations are complete."""
    waited_s = 0.0
    for request in requests:
        while not request.Test():
            pause_s = min(max(SHARE * waited_s, FIRST_SLEEP_S), LONGEST_SLEEP_S)
            time.sleep(pause_s)
            waited_s += pause_s
