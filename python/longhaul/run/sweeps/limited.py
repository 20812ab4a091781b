"""Shards with a memory limit, in a worker process of a cluster."""

import threading
from functools import cache
from typing import cast

from longhaul import _longhaul
from longhaul.run.memory import MemoryLimit, MemoryLimitError
from longhaul.run.sweeps.job import Job, Shard, run_shard

_BETWEEN_LOOKS_S = 0.1


def run_limited_shard(job: Job, shard: Shard, memory_bytes: int | None) -> bytes | MemoryLimitError:
    """The part of ``shard``, or the error if this process used more than ``memory_bytes`` for its shards.

    The error is returned and not raised, because the cluster would try the shard again elsewhere. ``None`` is
    no limit but the scheduler's.
    """
    if memory_bytes is None:
        return cast("bytes", run_shard(job, shard))
    limit, stop, ended = _limit(memory_bytes), _longhaul.Stop(), threading.Event()
    found: list[MemoryLimitError] = []

    def look() -> None:
        while not ended.wait(_BETWEEN_LOOKS_S):
            try:
                limit.check()
            except MemoryLimitError as error:
                found.append(error)
                stop.set()
                return

    monitor = threading.Thread(target=look, name="memory", daemon=True)
    monitor.start()
    try:
        part = run_shard(job, shard, stop)
    finally:
        ended.set()
        monitor.join()
    return found[0] if part is None else part


@cache
def _limit(memory_bytes: int) -> MemoryLimit:
    """One for all shards of this process, which may run several at once."""
    return MemoryLimit(memory_bytes)
