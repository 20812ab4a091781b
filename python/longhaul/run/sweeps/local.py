"""Shards on the cores of this machine: threads over native code, without the interpreter's lock."""

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from itertools import islice
from types import TracebackType
from typing import Protocol, Self

from longhaul import _longhaul
from longhaul.run.sweeps.job import Job, Shard, run_shard


class Workers(Protocol):
    """What runs shards: threads here, or a cluster."""

    def run(self, job: Job, shards: Iterator[Shard]) -> Iterator[tuple[Shard, bytes | Exception]]:
        """Each shard with its part as it is done, in any order; or why there is none."""

    def describe(self) -> str:
        """What they are, in a few words."""


class Threads(AbstractContextManager["Threads"]):
    """Threads of this process. Leaving the ``with`` block ends what they do within milliseconds."""

    def __init__(self, count: int | None = None) -> None:
        """So many, or one for each core that this process may use."""
        self.count = count or len(os.sched_getaffinity(0))
        self._stop = _longhaul.Stop()
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
        """Each shard with its part as it is done; no more are begun than there are threads, and one each."""
        running: dict[Future[bytes | None], Shard] = {}

        def fill() -> None:
            for shard in islice(shards, 2 * self.count - len(running)):
                running[self._pool.submit(run_shard, job, shard, self._stop)] = shard

        try:
            fill()
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    shard = running.pop(future)
                    error = future.exception()
                    part = None if error else future.result()
                    if isinstance(error, Exception):
                        yield shard, error
                    elif part is not None:
                        yield shard, part
                fill()
        except BaseException:
            self._stop.set()
            raise
