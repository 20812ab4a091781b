"""Shards on the cores of this machine: threads over native code, or over processes of live runs."""

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from itertools import islice
from types import TracebackType
from typing import Protocol, Self

from longhaul import _longhaul
from longhaul.run.memory import MemoryLimit, MemoryLimitError
from longhaul.sweeps.job import Job, Shard, run_shard

_BETWEEN_LOOKS_S = 0.1
"""At the memory in use, at most."""


class Workers(Protocol):
    """What runs shards: threads here, or a cluster."""

    def run(self, job: Job, shards: Iterator[Shard]) -> Iterator[tuple[Shard, bytes | Exception]]:
        """Each shard with its part as it is done, in any order; or why there is none."""

    def describe(self) -> str:
        """What they are, in a few words."""


class Threads(AbstractContextManager["Threads"]):
    """Threads of this process. Leaving the ``with`` block ends what they do within milliseconds."""

    def __init__(self, count: int | None = None, *, memory_bytes: int | None = None) -> None:
        """So many, or one for each core that this process may use.

        Together they may use ``memory_bytes`` of memory, by default half of what is free.
        """
        self.count = count or len(os.sched_getaffinity(0))
        self._stop = _longhaul.Stop()
        self._memory = MemoryLimit(memory_bytes)
        self._each_bytes = None if memory_bytes is None else memory_bytes // self.count
        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="sweep")

    def __enter__(self) -> Self:
        """Nothing: threads start when there is something to do."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End what is running."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)

    def describe(self) -> str:
        """How many there are."""
        return f"{self.count} thread{'s' if self.count > 1 else ''} here"

    def run(self, job: Job, shards: Iterator[Shard]) -> Iterator[tuple[Shard, bytes | Exception]]:
        """Each shard with its part as it is done; no more are begun than there are threads, and one each.

        Raises MemoryLimitError.
        """
        running: dict[Future[bytes | None], Shard] = {}

        def fill() -> None:
            for shard in islice(shards, 2 * self.count - len(running)):
                future = self._pool.submit(run_shard, job, shard, self._stop, memory_bytes=self._each_bytes)
                running[future] = shard

        try:
            fill()
            while running:
                done, _ = wait(running, timeout=_BETWEEN_LOOKS_S, return_when=FIRST_COMPLETED)
                self._memory.check()
                for future in done:
                    shard = running.pop(future)
                    error = future.exception()
                    if isinstance(error, MemoryLimitError):
                        raise error
                    part = None if error else future.result()
                    if isinstance(error, Exception):
                        yield shard, error
                    elif part is not None:
                        yield shard, part
                fill()
        except BaseException:
            self._stop.set()
            raise
