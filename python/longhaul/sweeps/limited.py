"""Shards with a memory limit, in a worker process of a cluster."""

from functools import cache
from typing import cast

from longhaul import _longhaul
from longhaul.run.memory import MemoryLimit, MemoryLimitError, MemoryMonitor
from longhaul.sweeps.job import Job, Shard, run_shard


def run_limited_shard(job: Job, shard: Shard, memory_bytes: int | None) -> bytes | MemoryLimitError:
    """The part of ``shard``, or the error if this process used more than ``memory_bytes`` for its shards.

    The error is returned and not raised, because the cluster would try the shard again elsewhere. ``None`` is
    no limit but the scheduler's. Of trials on the virtual clock, each has the limit.
    """
    if job.trials is not None:
        try:
            return cast("bytes", run_shard(job, shard, memory_bytes=memory_bytes))
        except MemoryLimitError as error:
            return error
    if memory_bytes is None:
        return cast("bytes", run_shard(job, shard))
    stop = _longhaul.Stop()
    errors: list[MemoryLimitError] = []

    def exceeded(error: MemoryLimitError) -> None:
        errors.append(error)
        stop.set()

    with MemoryMonitor(_limit(memory_bytes).check, exceeded):
        part = run_shard(job, shard, stop)
    return errors[0] if part is None else part


@cache
def _limit(memory_bytes: int) -> MemoryLimit:
    """One for all shards of this process, which may run several at once."""
    return MemoryLimit(memory_bytes)
