"""Any runs in one file: an artifact where they can be repeated, else their files with checksums."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from longhaul.artifacts import bundle
from longhaul.artifacts.bundle import Labels
from longhaul.artifacts.run_artifacts.contents import contents, files_of
from longhaul.artifacts.run_artifacts.grouping import grouped
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending


def archive(output: Path, runs: Sequence[Path]) -> bool:
    """Write the archive ``output``, a ``.tar.gz``; whether it is an artifact, which can be repeated.

    Raises LonghaulError if a run has not ended, or is damaged.
    """
    for run in runs:
        if ending.read(run).is_running:
            raise LonghaulError(
                Code.RESULTS_INCOMPLETE, f"{run.name} has not ended", remedy="wait for its end", exit_code=2
            )
    try:
        bundle.write(output, contents(grouped(runs), Labels()))
    except LonghaulError as error:
        if error.code not in (Code.RUN_NOT_REPEATABLE, Code.NOT_A_RUN):
            raise
    else:
        return True
    # Runs of several names may have begun in the same second.
    places = {run: f"{run.parent.name}/{run.name}" for run in runs}
    files = {f"{place}/{name}": path for run, place in places.items() for name, path in files_of(run)}
    begun = [datetime.fromisoformat(directories.read_run(run)["started"]) for run in runs]
    bundle.write_files(output, files, when=max(begun))
    return False
