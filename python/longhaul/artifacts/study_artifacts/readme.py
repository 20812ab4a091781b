"""The page of an artifact of a study."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from longhaul.artifacts.bundle import Archive
from longhaul.artifacts.description import PublishedPart, StudyDescription
from longhaul.artifacts.page import needs, page
from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.evaluation import EvaluatedClaim
from longhaul.studies.provenance import sentence
from longhaul.units.text import duration_text


def readme(about: StudyDescription, study: StudyFolder, archive: Archive, *, shared: Sequence[str]) -> str:
    """``README.md``; ``shared`` are the places of files beside the study's folder."""
    parts = {each.name: each for each in about.parts}
    measured = about.measured
    analysis = [each.analysis_s for each in measured]
    known = [each for each in analysis if each is not None]
    return page(
        "study_artifacts/README.md.j2",
        about,
        archive,
        counts=", ".join(f"{count} {word}" for word, count in study.counts().items()),
        claims=[_claim(each, parts[each.claim.part]) for each in study.evaluated()],
        parts=[_part(each) for each in about.parts],
        kinds={each.how for each in measured},
        unmeasured=[each.name for each in about.parts if each.provenance is None],
        ways=list(dict.fromkeys(each.how for each in measured)),
        needs=needs(each.how for each in measured),
        machines=list(dict.fromkeys(str((each.provenance or {})["machine"]) for each in measured)),
        execution=duration_text(about.took_s - sum(known)),
        analysis=_analysis(known, of=len(measured)),
        provenance=[(each.name, sentence(each.provenance)) for each in measured if each.provenance],
        figures=list(dict.fromkeys(figure for each in measured for figure in each.figures)),
        shared=shared,
        notes=[(each.name, note) for each in measured for note in each.notes],
    )


def _analysis(known: Sequence[float], *, of: int) -> str:
    """How long analysis took, as far as that is recorded."""
    if not known:
        return "not recorded; it is part of the execution time"
    more = "" if len(known) == of else f" in {len(known)} of {of} parts; of the others it is not recorded"
    return f"{duration_text(sum(known))}{more}"


def _claim(evaluated: EvaluatedClaim, part: PublishedPart) -> dict[str, Any]:
    claim = evaluated.claim
    return {
        "id": claim.id,
        "text": claim.text,
        "place": claim.place,
        "verdict": evaluated.verdict,
        "found": evaluated.found() or "-",
        "paper": "; ".join(claim.paper) or "-",
        "data": _links(part.figures or part.tables),
        "command": part.command,
        "part": claim.part,
        "rule": claim.rule,
        "assumes": "; ".join(claim.assumes) or "-",
    }


def _part(part: PublishedPart) -> dict[str, Any]:
    provenance = part.provenance or {}
    is_exact = part.how == "arithmetic"
    return {
        "name": part.name,
        "how": part.how,
        "about": part.about or "-",
        "rounds": _recorded(provenance, "rounds"),
        "runs": "-" if is_exact else _recorded(provenance, "runs"),
        "seeds": "-" if is_exact else _recorded(provenance, "seeds"),
        "execution": _time(part, part.execution_s if part.analysis_s is not None else part.took_s),
        "analysis": _time(part, part.analysis_s),
        "is_measured": part.provenance is not None,
        "command": part.command,
        "data": _links((*part.figures, *part.tables)),
    }


def _recorded(provenance: dict[str, Any], key: str) -> str:
    """A value of the provenance; results of earlier versions do not have all."""
    if not provenance:
        return "-"
    value = provenance.get(key)
    if value is None:
        return "not recorded"
    return ", ".join(map(str, value)) or "-" if isinstance(value, list) else str(value)


def _time(part: PublishedPart, seconds: float | None) -> str:
    if part.provenance is None:
        return "-"
    if seconds is None:
        return "not recorded"
    return duration_text(seconds) if seconds >= 1 else "less than 1 s"


def _links(places: Sequence[str]) -> str:
    return ", ".join(f"[{PurePosixPath(place).stem}]({place})" for place in places) or "-"
