"""Replay: the inputs of a live run through the model again, with the same fates and due times."""

from dataclasses import dataclass
from pathlib import Path

from longhaul import _longhaul
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results.summary import read_engine


@dataclass(frozen=True)
class Replayed:
    """What came of replaying a journal."""

    injected: int
    """Packets that hosts sent."""
    changes: int
    """Changes of models, per direction."""
    equal: int
    """Departures that were the same, to the picosecond, before the first that was not."""
    delivered: int
    """Those of them that reached their host; the others were lost, dropped, answered ..."""
    difference: tuple[str | None, str | None] | None
    """The first departure that differs, as recorded and as replayed."""

    @property
    def agrees(self) -> bool:
        """Whether model and live run are the same."""
        return self.difference is None


def replay(directory: Path) -> Replayed:
    """Replay the journal of the live run in ``directory`` through a fresh network of its plan.

    Raises ``LonghaulError`` if the run kept no journal, or not all of it.
    """
    plan, journal = directory / "plan.json", directory / "raw" / "journal.bin"
    if not plan.is_file():
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{directory} is not a run directory: it has no plan.json",
            remedy="name one, such as runs/NAME/latest-live",
            exit_code=2,
        )
    if not journal.is_file():
        raise LonghaulError(
            Code.RESULTS_INCOMPLETE,
            f"{directory} kept no journal",
            remedy="run it with --journal, or with measure: {journal: true} in the scenario",
            exit_code=2,
        )
    lost = (read_engine(directory) or {}).get("lost_records")
    if lost:
        raise LonghaulError(
            Code.RESULTS_INCOMPLETE,
            f"{directory}: {lost} records were lost because the disk was too slow",
            remedy="run it again, recording less (measure:) or on a faster disk",
            exit_code=4,
        )
    try:
        found = _longhaul.replay(plan.read_text(encoding="utf-8"), str(journal))
    except _longhaul.InvalidValueError as error:
        raise LonghaulError(
            Code.RESULTS_DAMAGED, f"{directory}: {error.message}", remedy="run it again", exit_code=2
        ) from error
    return Replayed(**found)
