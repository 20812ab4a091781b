"""Which runs of a group are repetitions, and which are one simulation made again."""

from collections.abc import Mapping, Sequence
from typing import Any

Simulated = tuple[int, str]
"""The seed of a simulation, and the digest of its results."""


def simulated(run: Mapping[str, Any], summary: Mapping[str, Any]) -> Simulated | None:
    """Of ``run.json`` and ``summary.json``; ``None`` for a live run, which never happens again."""
    equal = digest(summary)
    return None if equal is None else (int(run["seed"]), equal)


def digest(summary: Mapping[str, Any]) -> str | None:
    """The digest of a simulation's results; ``None`` for a live run."""
    found = (summary.get("simulation") or {}).get("digest")
    return None if found is None else str(found)


def independent(runs: Sequence[Simulated | None]) -> list[int]:
    """Positions of runs that are repetitions of one another: every live run, and each simulation once.

    Equal seeds with equal results are one simulation, however often it was made. Equal results of different
    seeds are repetitions, which :func:`longhaul.analysis.estimates.estimate` counts once.
    """
    first = {run: place for place, run in reversed(list(enumerate(runs)))}
    return [place for place, run in enumerate(runs) if run is None or first[run] == place]
