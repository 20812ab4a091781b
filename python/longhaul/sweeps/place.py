"""The place of a sweep's workers: this machine, a batch system, Kubernetes, or a scheduler that runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.problems import did_you_mean

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

_EXAMPLE = "write for example {kind: slurm, jobs: 4, cores: 8, memory: 16GB, walltime: '02:00:00'}"


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
        raise LonghaulError(
            Code.CLUSTER_DESCRIPTION, f'there is no kind of cluster "{text}"', remedy=remedy, exit_code=2
        )
    try:
        content = yaml.safe_load(read_regular(path, most_bytes=_LARGEST))
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNREADABLE, f"cannot read {path}: {error.strerror}", exit_code=2
        ) from error
    except yaml.YAMLError as error:
        message = f"{path} is not YAML: {str(error).splitlines()[0]}"
        raise LonghaulError(Code.CLUSTER_DESCRIPTION, message, remedy=_EXAMPLE, exit_code=2) from error
    return _described(content, str(path))


def _described(content: object, where: str) -> Place:
    if not isinstance(content, Mapping) or content.get("kind") not in KINDS:
        raise LonghaulError(
            Code.CLUSTER_DESCRIPTION,
            f"{where} does not say which kind of cluster it is",
            remedy=_EXAMPLE,
            exit_code=2,
        )
    jobs = content.get("jobs", 1)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise LonghaulError(
            Code.CLUSTER_DESCRIPTION,
            f"{where}: jobs: {jobs} is not a number of workers",
            remedy=_EXAMPLE,
            exit_code=2,
        )
    dashboard = content.get("dashboard", False)
    if not isinstance(dashboard, int) or not 0 <= dashboard <= 65_535:
        remedy = "write true for any free port, or a port; it listens on this machine's loopback alone"
        raise LonghaulError(
            Code.CLUSTER_DESCRIPTION,
            f"{where}: dashboard: {dashboard} is not a port",
            remedy=remedy,
            exit_code=2,
        )
    port = {True: 0, False: None}[dashboard] if isinstance(dashboard, bool) else dashboard
    options = {key: value for key, value in content.items() if key not in ("kind", "jobs", "dashboard")}
    return Place(str(content["kind"]), jobs, options, port)
