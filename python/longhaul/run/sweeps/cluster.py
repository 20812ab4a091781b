"""Shards on a cluster: Dask carries them, dask-jobqueue or dask-kubernetes asks for the machines.

A worker needs nothing but Longhaul: the scenario comes with the work, and parts go back to this process,
which writes them. So results need no shared file system, and there is one writer. If a worker is lost, its
shards are done again by another; if this process is lost, so are the shards in flight, and `--resume` does
them.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from longhaul.errors import LonghaulError
from longhaul.regular import read_regular
from longhaul.run.memory import MemoryLimitError
from longhaul.run.sweeps.job import Job, Shard
from longhaul.run.sweeps.limited import run_limited_shard
from longhaul.run.sweeps.tls import (
    LOOPBACK,
    Certificates,
    dashboard_address,
    dashboard_link,
    job_options,
    module,
    secured,
    settings,
)
from longhaul.scenario.problems import did_you_mean

JOBQUEUE: Mapping[str, str] = {
    "slurm": "SLURMCluster",
    "htcondor": "HTCondorCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "oar": "OARCluster",
}
KINDS = (*JOBQUEUE, "kubernetes", "local")
_LARGEST = 1 << 20
"""Bytes of a description that are read."""
DEATHS = 10
"""How many workers may die with a shard in hand before the shard is given up."""
ANSWER_S = 20
"""How long a scheduler may take to answer."""
AHEAD = 2
"""Shards in flight for each thread of the cluster: one that runs, and one so that it need not wait."""


@dataclass(frozen=True)
class Place:
    """Where a cluster is, or how to get one."""

    kind: str
    """One of :data:`KINDS`, or ``address``."""
    jobs: int = 1
    """How many workers to ask for."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """For the cluster's class in dask-jobqueue or dask-kubernetes; of ``address``, where it is."""
    dashboard: int | None = None
    """The port of Dask's dashboard on this machine's loopback, 0: any free one; ``None``: there is none."""


def place_of(text: str | Mapping[str, Any]) -> Place:
    """A cluster by its kind, its scheduler's address, or the YAML file that describes it, or its contents.

    Raises LonghaulError for anything else.
    """
    if not isinstance(text, str):
        return _described(text, "cluster")
    if "://" in text:
        return Place("address", options={"address": text})
    if text in KINDS:
        return Place(text)
    path = Path(text)
    if not path.suffix:
        remedy = f"{did_you_mean(text, KINDS)} (or an address, tcp://host:8786, or a YAML file)"
        raise LonghaulError(f'there is no kind of cluster "{text}"', remedy=remedy, exit_code=2)
    try:
        content = yaml.safe_load(read_regular(path, most_bytes=_LARGEST))
    except OSError as error:
        raise LonghaulError(f"cannot read {path}: {error.strerror}", exit_code=2) from error
    except yaml.YAMLError as error:
        raise LonghaulError(f"{path} is no YAML: {str(error).splitlines()[0]}", exit_code=2) from error
    return _described(content, str(path))


def _described(content: object, where: str) -> Place:
    example = "write for example {kind: slurm, jobs: 4, cores: 8, memory: 16GB, walltime: '02:00:00'}"
    if not isinstance(content, Mapping) or content.get("kind") not in KINDS:
        raise LonghaulError(f"{where} does not say which kind of cluster it is", remedy=example, exit_code=2)
    jobs = content.get("jobs", 1)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise LonghaulError(f"{where}: jobs: {jobs} is no number of workers", remedy=example, exit_code=2)
    dashboard = content.get("dashboard", False)
    if not isinstance(dashboard, int) or not 0 <= dashboard <= 65_535:
        remedy = "write true for any free port, or a port; it listens on this machine's loopback alone"
        raise LonghaulError(f"{where}: dashboard: {dashboard} is not a port", remedy=remedy, exit_code=2)
    port = {True: 0, False: None}[dashboard] if isinstance(dashboard, bool) else dashboard
    options = {key: value for key, value in content.items() if key not in ("kind", "jobs", "dashboard")}
    return Place(str(content["kind"]), jobs, options, port)


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
            f"no Dask scheduler answers at {address}", remedy="start one: dask scheduler", exit_code=3
        ) from error
    if not address.startswith(("tls://", "wss://")):
        print(
            f"longhaul: warning: whoever reaches {address} can run code as the user of its workers; "
            "start the scheduler with TLS (tls://), or let --cluster start one",
            file=sys.stderr,
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
        from longhaul.run.sweeps.kubernetes import asked

        return asked(place.options, certificates, dashboard=place.dashboard is not None)
    jobqueue = module("dask_jobqueue", package="dask-jobqueue")
    kind = getattr(jobqueue, JOBQUEUE[place.kind])
    try:
        cluster = secured(kind, certificates)(**job_options(place, certificates))
    except (ValueError, TypeError) as error:
        raise LonghaulError(
            f"{place.kind}: {str(error).splitlines()[0]}",
            remedy="say it in a file: --cluster cluster.yaml with "
            f"{{kind: {place.kind}, jobs: 4, cores: 8, memory: 16GB}}",
            exit_code=2,
        ) from error
    cluster.scale(jobs=place.jobs)
    return cluster
