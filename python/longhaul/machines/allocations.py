"""The machines that a run has while it lasts: those of Kubernetes are made for it, others are there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines import kubernetes
from longhaul.machines.hostfile import Machine, machines_of


@dataclass(frozen=True)
class Allocation:
    """The machines of a run."""

    machines: Sequence[Machine]
    pods: kubernetes.Pods | None = None
    """What is to be removed in the end, if they were made for the run."""


@contextmanager
def allocation_of(
    on: str, *, ssh: str = "ssh", sudo: bool = False, keep: bool = False
) -> Iterator[Allocation]:
    """The machines that ``--on`` names: ``slurm``, a hostfile, or a YAML file that describes pods.

    Pods are removed after the block, with ``keep`` only after an error. ``ssh`` is the command that reaches
    machines of a hostfile. With ``sudo``, the run's processes start as root there. Raises LonghaulError.
    """
    path = Path(on)
    if path.suffix not in kubernetes.SUFFIXES:
        yield Allocation([replace(each, is_by_sudo=sudo) for each in machines_of(on, ssh=ssh)])
        return
    if sudo:
        raise LonghaulError(
            Code.CLUSTER_DESCRIPTION,
            f"{on}: pods have no sudo; the run's processes start as the user of their image",
            remedy="leave out --sudo, and use an image whose user is root",
            exit_code=2,
        )
    with kubernetes.pods_of_run(kubernetes.description_of(path), keep=keep) as (pods, machines):
        yield Allocation(machines, pods)
