"""Congestion-control algorithms that can be run on this machine, live and simulated."""

from functools import cache

from longhaul import _longhaul
from longhaul.run.congestion_control import available


@cache
def kernel_algorithms() -> tuple[str, ...]:
    """Algorithms that real hosts can use here: the kernel's own, and those that can be loaded for a run."""
    loadable = [name for name, obstacle in _longhaul.bpf_algorithms(load=True) if obstacle is None]
    return tuple(dict.fromkeys(available() + loadable))


def is_simulated(algorithm: str) -> bool:
    """Whether there is a model of this algorithm."""
    return algorithm in _longhaul.algorithms()
