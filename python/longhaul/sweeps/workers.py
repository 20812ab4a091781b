"""The workers of a sweep by what was asked for."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.sweeps.cluster import Cluster
from longhaul.sweeps.local import Threads, Workers
from longhaul.sweeps.place import place_of
from longhaul.sweeps.trials import LiveTrials


def workers_of(
    count: int | None,
    cluster: str | Mapping[str, Any] | None,
    *,
    trials: LiveTrials | None,
    memory_bytes: int | None = None,
) -> AbstractContextManager[Workers]:
    """``count`` threads of this machine, by default one for each core, or those of ``cluster``.

    Live runs on the real clock have one. Raises LonghaulError.
    """
    if cluster:
        return Cluster(place_of(cluster), memory_bytes=memory_bytes)
    if trials is not None and trials.take_turns:
        if count is not None and count > 1:
            raise LonghaulError(
                Code.OPTION_CONFLICT,
                "live runs on the real clock take turns, since they would slow each other",
                remedy="leave --workers out, or use more machines with --cluster",
                exit_code=2,
            )
        count = 1
    return Threads(count, memory_bytes=memory_bytes)
