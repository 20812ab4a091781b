"""A live run on several machines, from its preparation to its merged records."""

import shutil
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from longhaul import storage
from longhaul.errors import LonghaulError
from longhaul.machines.control import serving_requests
from longhaul.machines.coordinator import END_S, Coordinator, MachineLostError
from longhaul.machines.parts import Options, Parts, Progress
from longhaul.machines.placement import Placement
from longhaul.results import directory as directories
from longhaul.results import ending, live_records, machine_records
from longhaul.run.exporter import serving
from longhaul.run.live import Finished
from longhaul.run.session import RunFailedError
from longhaul.run.sockets import socket_path
from longhaul.units.text import few_text

if TYPE_CHECKING:
    import socket


def run(
    directory: Path,
    placement: Placement,
    *,
    name: str,
    progress: Progress,
    options: Options,
    listener: "socket.socket | None" = None,
    path: Path | None = None,
) -> Finished:
    """Run what is in ``directory`` to the end on all machines of ``placement``; merge their records there.

    Processes of the run have the short unique ``name``. Requests about the run are answered at the socket
    ``path``, by default one of that name; at ``listener``, if there is one, metrics are served. Ctrl-C,
    SIGTERM and SIGHUP end it early. A machine that is gone, silent or late ends it within seconds; the
    records of the others are kept. Raises RunFailedError and LonghaulError.
    """
    plan = directories.read_plan(directory)
    path = path or socket_path(name)
    served: AbstractContextManager[None] = nullcontext()
    if listener is not None:
        served = serving(listener, directory, path)
    with ending.recorded(directory), serving_requests(path) as control, served:
        kept = directory / machine_records.MACHINES
        storage.make_directory(kept)
        coordinator = Coordinator(placement, scratch=kept)
        parts = Parts(coordinator, directory, plan, name=name, report=progress, options=options)
        control.begin(parts)
        try:
            found = parts.run()
            failure: LonghaulError | None = None
        except LonghaulError as error:
            status = error.status if isinstance(error, RunFailedError) else ending.FAILED
            found, failure = ending.Ending(status, error.message), error
            coordinator.request(do="stop", status="crashed", why=error.message)
        finally:
            control.end()
            try:
                names = coordinator.collect(kept)
            finally:
                coordinator.close()
        missing = [name for name in placement.names if name not in names]
        if failure is None and missing:
            failure = MachineLostError(
                f"no records of {few_text(missing)} arrived within {END_S:.0f} s of the end"
            )
            found = ending.Ending(failure.status, failure.message)
        if any((kept / name / "raw" / "started.json").is_file() for name in names):
            machine_records.merge(directory, plan, placement.partition, placement.names, found)
            if failure is None:
                # The merged records have everything.
                shutil.rmtree(kept)
        else:
            live_records.remove(directory)
        if failure is not None:
            raise failure
        ending.end(directory, found.status, found.reason)
    return Finished(directory, found.status)
