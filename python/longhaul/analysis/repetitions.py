"""Which runs of a group tell something of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

Simulated = tuple[int, str]
"""The seed of a simulation, and the digest of its results."""


def simulated(run: Mapping[str, Any], summary: Mapping[str, Any]) -> Simulated | None:
    """Of ``run.json`` and ``summary.json``; ``None`` for a live run, which never happens again."""
    digest = (summary.get("simulation") or {}).get("digest")
    return None if digest is None else (int(run["seed"]), str(digest))


def independent(runs: Sequence[Simulated | None]) -> list[int]:
    """Positions of runs that are repetitions of one another: every live run, and each simulation once.

    Equal seeds with equal results are one simulation, however often it was made: to count it again would
    make an interval of nothing. Equal results of different seeds say that chance has no part in them.
    """
    first = {run: place for place, run in reversed(list(enumerate(runs)))}
    return [place for place, run in enumerate(runs) if run is None or first[run] == place]
