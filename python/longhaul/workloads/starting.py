"""Where MPI begins."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from longhaul.errors import LonghaulError


@contextmanager
def communicator() -> Iterator[Any]:
    """All ranks. A failure of one that is no complaint to the user ends all: they would wait for it."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        message = str(error).splitlines()[0] if str(error) else "no MPI"
        raise LonghaulError(
            f"MPI is missing: {message}", remedy='install it with: pip install "longhaul[mpi]"', exit_code=2
        ) from error
    world = MPI.COMM_WORLD
    try:
        yield world
    except (LonghaulError, SystemExit):
        raise
    except BaseException:
        if world.Get_size() == 1:
            raise
        traceback.print_exc()
        sys.stderr.flush()
        world.Abort(70)
