"""Shards on a cluster: Dask distributes them, dask-jobqueue or dask-kubernetes requests the machines.

A worker needs nothing but Longhaul: the scenario comes with the work, and parts go back to this process,
which writes them. So results need no shared file system, and there is one writer. If a worker is lost, its
shards are done again by another; if this process is lost, so are the shards in flight, and `--resume` does
them.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Self

from longhaul import log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.memory import MemoryLimitError
from longhaul.sweeps.job import Job, Shard
from longhaul.sweeps.limited import run_limited_shard
from longhaul.sweeps.place import JOBQUEUE, Place
from longhaul.sweeps.tls import (
    LOOPBACK,
    Certificates,
    dashboard_address,
    dashboard_link,
    job_options,
    module,
    secured,
    settings,
)

ANSWER_S = 20
"""How long a scheduler may take to answer."""
AHEAD = 2
"""Shards in flight for each thread of the cluster: one that runs, and one so that it need not wait."""


class Cluster(AbstractContextManager["Cluster"]):
    """Workers of a Dask cluster, which is asked for on entering and let go on leaving."""

    def __init__(self, place: Place, *, memory_bytes: int | None = None) -> None:
        """Prepare; nothing is asked for yet. Raises LonghaulError if a package is missing.

        The shards of each worker process may together use ``memory_bytes`` of memory, by default what the
        scheduler allows.
        """
        self._place = place
        self._memory_bytes = memory_bytes
        self._cluster: Any = None
        self._client: Any = None
        self._open = ExitStack()
        module("distributed")
        if place.kind != "address":
            module("cryptography")

    def __enter__(self) -> Self:
        """Ask for the workers; the first may come much later."""
        with ExitStack() as opened:
            if self._place.kind == "address":
                opened.enter_context(settings(dashboard=False))
                self._client = opened.enter_context(_connect(self._place.options["address"]))
            else:
                opened.enter_context(settings(dashboard=self._place.dashboard is not None))
                shared = self._place.options.get("shared_temp_directory")
                certificates = opened.enter_context(Certificates(shared))
                self._cluster = opened.enter_context(_ask(self._place, certificates))
                if self._place.kind == "kubernetes":
                    self._cluster.scale(self._place.jobs)
                self._client = opened.enter_context(module("distributed").Client(self._cluster))
            self._open = opened.pop_all()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Let the workers go."""
        self._open.close()

    def describe(self) -> str:
        """Where the scheduler is, and the dashboard if there is one."""
        address = self._client.scheduler.address
        if self._place.kind == "address" or self._place.dashboard is None:
            return f"{self._place.kind}, scheduler {address}"
        return f"{self._place.kind}, dashboard {dashboard_link(self._cluster)}"

    def run(self, job: Job, shards: Iterator[Shard]) -> Iterator[tuple[Shard, bytes | Exception]]:
        """Each shard with its part as it is done; more are sent as workers can take them.

        Raises MemoryLimitError.
        """
        # A task, not data: if its worker dies, another makes it again.
        sent = self._client.submit(_same, job, pure=False)
        # Parts are fetched in the client's own loop, at once: a worker may be gone a moment later.
        waiting = module("distributed").as_completed(
            [], loop=self._client.loop, with_results=True, raise_errors=False
        )
        running: dict[Any, Shard] = {}

        def fill() -> None:
            room = AHEAD * max(1, sum(self._client.nthreads().values())) - len(running)
            for _ in range(room):
                shard = next(shards, None)
                if shard is None:
                    return
                future = self._client.submit(
                    run_limited_shard, sent, shard, self._memory_bytes, pure=False, retries=1
                )
                running[future.key] = shard
                waiting.add(future)

        fill()
        for future, result in waiting:
            shard = running.pop(future.key)
            if isinstance(result, MemoryLimitError):
                raise result
            if future.status == "finished":
                yield shard, result
            else:
                # Of an error: its type, itself, where it came from.
                lost = RuntimeError(f"the shard was {future.status}")
                yield shard, result[1] if future.status == "error" else lost
            future.release()
            fill()


def _same(job: Job) -> Job:
    return job


def _connect(address: str) -> Any:
    """A client of a scheduler that runs already; TLS is as Dask's own configuration has it."""
    distributed = module("distributed")
    try:
        client = distributed.Client(address, timeout=ANSWER_S)
    except OSError as error:
        raise LonghaulError(
            Code.CLUSTER_UNREACHABLE,
            f"no Dask scheduler answers at {address}",
            remedy="start one: dask scheduler",
            exit_code=3,
        ) from error
    if not address.startswith(("tls://", "wss://")):
        log.warn_of(
            f"warning: whoever reaches {address} can run code as the user of its workers; "
            "start the scheduler with TLS (tls://), or let --cluster start one"
        )
    return client


def _ask(place: Place, certificates: Certificates) -> Any:
    """The cluster, as a context."""
    if place.kind == "local":
        address = dashboard_address(place.dashboard)
        options: dict[str, Any] = {
            "threads_per_worker": 1,
            "security": certificates.security,
            "dashboard_address": address,
            "scheduler_kwargs": {"dashboard": place.dashboard is not None},
            "worker_dashboard_address": LOOPBACK,
            **place.options,
        }
        return module("distributed").LocalCluster(**options)
    if place.kind == "kubernetes":
        from longhaul.sweeps.kubernetes import asked

        return asked(place.options, certificates, dashboard=place.dashboard is not None)
    jobqueue = module("dask_jobqueue", package="dask-jobqueue")
    kind = getattr(jobqueue, JOBQUEUE[place.kind])
    try:
        cluster = secured(kind, certificates)(**job_options(place, certificates))
    except (ValueError, TypeError) as error:
        raise LonghaulError(
            Code.CLUSTER_DESCRIPTION,
            f"{place.kind}: {str(error).splitlines()[0]}",
            remedy="describe it in a file: --cluster cluster.yaml with "
            f"{{kind: {place.kind}, jobs: 4, cores: 8, memory: 16GB}}",
            exit_code=2,
        ) from error
    cluster.scale(jobs=place.jobs)
    return cluster
