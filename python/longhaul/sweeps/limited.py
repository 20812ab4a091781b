"""Shards in a worker process of a cluster: with a memory limit, and ended when nobody wants them any more."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

from longhaul import _longhaul
from longhaul.run.memory import MemoryLimit, MemoryLimitError, MemoryMonitor
from longhaul.sweeps.job import Job, Shard, run_shard
from longhaul.sweeps.tls import module

_INTERVAL_S = 0.2
"""Between two looks at the state of a task."""


def run_limited_shard(job: Job, shard: Shard, memory_bytes: int | None) -> bytes | MemoryLimitError:
    """The part of ``shard``, or the error if this process used more than ``memory_bytes`` for its shards.

    The error is returned and not raised, because the cluster would try the shard again elsewhere. ``None`` is
    no limit but the scheduler's. Of live runs, each has the limit.
    """
    if job.trials is not None:
        return _run_trials(job, shard, memory_bytes)
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


def _run_trials(job: Job, shard: Shard, memory_bytes: int | None) -> bytes | MemoryLimitError:
    """The same of live runs, which may take hours: each ends with its task and its worker."""
    stop = _longhaul.Stop()
    try:
        with _ended_with_task(stop):
            part = run_shard(job, shard, stop, memory_bytes=memory_bytes)
    except MemoryLimitError as error:
        return error
    if part is None:
        # Another worker does the shard again, if anybody still wants it.
        raise RuntimeError("the worker closed, or the sweep was interrupted")
    return part


@contextmanager
def _ended_with_task(stop: _longhaul.Stop) -> Iterator[None]:
    """Within the block, set ``stop`` when the Dask task of this thread is cancelled or its worker closes."""
    distributed = module("distributed")
    worker: Any = distributed.get_worker()
    key = worker.get_current_task()
    closing = {distributed.Status[name] for name in ("closing", "closed", "stopping", "stopped", "failed")}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_INTERVAL_S):
            task = worker.state.tasks.get(key)
            if worker.status in closing or task is None or task.state == "cancelled":
                stop.set()
                return

    thread = threading.Thread(target=watch, name="task", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
