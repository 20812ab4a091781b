"""Where MPI begins."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.workloads.waiting import SleepingComm


@contextmanager
def communicator(*, sleep: bool = False) -> Iterator[Any]:
    """All ranks, which ``sleep`` or poll while they wait for messages.

    A failure of one, other than an error of the user, ends all: others would wait for it.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        message = str(error).splitlines()[0] if str(error) else "no MPI"
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"MPI is missing: {message}",
            remedy='install it with: pip install "longhaul[mpi]"',
            exit_code=2,
        ) from error
    world = MPI.COMM_WORLD
    try:
        yield SleepingComm(world) if sleep else world
    except (LonghaulError, SystemExit):
        raise
    except BaseException:
        if world.Get_size() == 1:
            raise
        traceback.print_exc()
        sys.stderr.flush()
        world.Abort(70)
