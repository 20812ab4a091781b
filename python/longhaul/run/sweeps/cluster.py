"""Shards on a cluster: Dask carries them, dask-jobqueue or dask-kubernetes asks for the machines.

A worker needs nothing but Longhaul: the scenario comes with the work, and parts go back to this process,
which writes them. So no file system need be shared, and there is one writer. If a worker is lost, its shards
are done again by another; if this process is lost, so are the shards in flight, and `--resume` does them.
"""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from longhaul.errors import LonghaulError
from longhaul.run.sweeps.job import Job, Shard, run_shard
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
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
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
    options = {key: value for key, value in content.items() if key not in ("kind", "jobs")}
    return Place(str(content["kind"]), jobs, options)


class Cluster(AbstractContextManager["Cluster"]):
    """Workers of a Dask cluster, which is asked for on entering and let go on leaving."""

    def __init__(self, place: Place) -> None:
        """Prepare; nothing is asked for yet. Raises LonghaulError if a package is missing."""
        self._place = place
        self._cluster: Any = None
        self._client: Any = None
        _module("distributed")

    def __enter__(self) -> Self:
        """Ask for the workers; the first may come much later."""
        dask, distributed = _module("dask"), _module("distributed")
        dask.config.set({"distributed.scheduler.allowed-failures": DEATHS})
        if self._place.kind == "address":
            address = self._place.options["address"]
            try:
                self._client = distributed.Client(address, timeout=ANSWER_S)
            except OSError as error:
                raise LonghaulError(
                    f"no Dask scheduler answers at {address}", remedy="start one: dask scheduler", exit_code=3
                ) from error
            return self
        self._cluster = _ask(self._place)
        self._client = distributed.Client(self._cluster)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Let the workers go."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def describe(self) -> str:
        """Where the dashboard is."""
        return f"{self._place.kind}, dashboard {self._client.dashboard_link}"

    def run(self, job: Job, shards: Iterator[Shard]) -> Iterator[tuple[Shard, bytes | Exception]]:
        """Each shard with its part as it is done; more are sent as workers can take them."""
        # A task, not data: if its worker dies, another makes it again.
        sent = self._client.submit(_same, job, pure=False)
        # Parts are fetched in the client's own loop, at once: a worker may be gone a moment later.
        waiting = _module("distributed").as_completed(
            [], loop=self._client.loop, with_results=True, raise_errors=False
        )
        running: dict[Any, Shard] = {}

        def fill() -> None:
            room = AHEAD * max(1, sum(self._client.nthreads().values())) - len(running)
            for _ in range(room):
                shard = next(shards, None)
                if shard is None:
                    return
                future = self._client.submit(run_shard, sent, shard, pure=False, retries=1)
                running[future.key] = shard
                waiting.add(future)

        fill()
        for future, result in waiting:
            shard = running.pop(future.key)
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


def _ask(place: Place) -> Any:
    options = dict(place.options)
    if place.kind == "local":
        return _module("distributed").LocalCluster(**{"threads_per_worker": 1, **options})
    if place.kind == "kubernetes":
        made = _module("dask_kubernetes.operator", package="dask-kubernetes", extra="kubernetes")
        cluster = made.KubeCluster(**{"name": "longhaul", **options})
        cluster.scale(place.jobs)
        return cluster
    kind = getattr(_module("dask_jobqueue", package="dask-jobqueue"), JOBQUEUE[place.kind])
    try:
        cluster = kind(**options)
    except (ValueError, TypeError) as error:
        raise LonghaulError(
            f"{place.kind}: {str(error).splitlines()[0]}",
            remedy="say it in a file: --cluster cluster.yaml with "
            f"{{kind: {place.kind}, jobs: 4, cores: 8, memory: 16GB}}",
            exit_code=2,
        ) from error
    cluster.scale(jobs=place.jobs)
    return cluster


def _module(name: str, *, package: str | None = None, extra: str = "dask") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LonghaulError(
            f"clusters need the package {package or name}",
            remedy=f"install longhaul[{extra}]",
            exit_code=3,
        ) from error
