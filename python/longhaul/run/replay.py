"""Replay: the inputs of a live run through the model again, with the same fates and due times."""

from dataclasses import dataclass, fields
from pathlib import Path

from longhaul import _longhaul
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import machine_records
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
    crossed: int
    """Those of them that went to another engine thread or machine, where they are replayed again."""
    difference: tuple[str | None, str | None] | None
    """The first departure that differs, as recorded and as replayed."""

    @property
    def agrees(self) -> bool:
        """Whether model and live run are the same."""
        return self.difference is None


def replay(directory: Path) -> Replayed:
    """Replay the journal of the live run in ``directory`` through a fresh network of its plan.

    Each engine thread or machine of a divided run has a journal, with the packets that came from others.
    Raises ``LonghaulError`` if the run kept no journal, or not all of it.
    """
    plan, journals = directory / "plan.json", machine_records.journals(directory)
    if not plan.is_file():
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{directory} is not a run directory: it has no plan.json",
            remedy="name one, such as runs/NAME/latest-live",
            exit_code=2,
        )
    if not journals:
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
    text = plan.read_text(encoding="utf-8")
    parts: list[Replayed] = []
    for path, shard in journals:
        try:
            found = _longhaul.replay(text, str(path), shard)
        except (_longhaul.InvalidValueError, OSError) as error:
            what = getattr(error, "message", error)
            where = directory if shard is None else path
            raise LonghaulError(
                Code.RESULTS_DAMAGED, f"{where}: {what}", remedy="run it again", exit_code=2
            ) from error
        parts.append(Replayed(**{each.name: found[each.name] for each in fields(Replayed)}))
        if not parts[-1].agrees:
            break
    return Replayed(
        injected=sum(each.injected for each in parts),
        # Every engine makes every change.
        changes=parts[0].changes,
        equal=sum(each.equal for each in parts),
        delivered=sum(each.delivered for each in parts),
        crossed=sum(each.crossed for each in parts),
        difference=parts[-1].difference,
    )
