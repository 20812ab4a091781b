"""The end of a run: its results and report, also of one that failed on its way."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longhaul import log
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending
from longhaul.run.session import Message, RunFailedError

Json = dict[str, Any]


@contextmanager
def results_so_far(
    directory: Path,
    *,
    report: bool,
    strict: bool = False,
    shown: Callable[[Json], None] = lambda _summary: None,
) -> Iterator[None]:
    """A live run that fails or crashes on its way within the block leaves results of what it recorded.

    ``shown`` is given their summary. The error is passed on with the outcome's exit code.
    """
    try:
        yield
    except RunFailedError as error:
        if (directory / "raw" / "started.json").is_file():
            try:
                status = ending.read(directory).status
                summary = conclude(directory, reason=status, report=report, strict=strict)
                error.exit_code = exit_code(summary) or error.exit_code
                shown(summary)
            except (OSError, ValueError, LonghaulError) as second:
                log.warn_of(f"results cannot be written: {_words(second)}")
                log.warn_of(f"to try again: longhaul report {directory}")
        raise


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def conclude(
    directory: Path,
    *,
    reason: str,
    report: bool,
    strict: bool = False,
    progress: Callable[[str], None] = lambda _part: None,
) -> Json:
    """Turn what a run left in ``raw/`` into results, and write the report.

    ``strict``: a degraded network is a failure, now and whenever the results are written again. ``progress``
    is called with the name of each part before it is written.
    """
    from longhaul.results.summary import write_results

    if strict:
        directories.update_run(directory, strict=True)
    progress("results")
    summary = write_results(directory)
    ending.end(directory, reason)
    if report:
        from longhaul.report.html import write_report

        progress("report")
        write_report(directory, summary)
    return summary


def exit_code(summary: Mapping[str, Any]) -> int:
    """0 passed; 1 failed; 4 the network was invalid; 70 crashed; 130 interrupted: as the outcome says."""
    return int(summary["outcome"]["exit_code"])


def ignore(_message: Message) -> None:
    """A listener for runs that nobody watches."""
