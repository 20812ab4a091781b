"""Requests about studies: their claims and figures, and runs of them."""

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.bodies import StudyStart
from longhaul.page.jobs import Jobs
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.claims import Picture, StudyDetails, StudyFigure, StudyList, StudyPart, StudyRow
from longhaul.page.responses.jobs import Job, JobProgress
from longhaul.studies.headlines import read_headline
from longhaul.units.text import duration_text

if TYPE_CHECKING:
    from longhaul.studies.catalogue import StudyFolder

KIND = "study"
_MOST_PICTURE_BYTES = 8 << 20


@dataclass(frozen=True)
class Studies:
    """Answers about the studies of the directory ``studies``, here or in the nearest directory above."""

    jobs: Jobs

    def all(self, _asked: Asked) -> StudyList:
        """The studies, each with its claims by verdict."""
        from longhaul.studies.catalogue import find_directory, studies_in

        try:
            directory = find_directory(None, start=self.jobs.directory)
        except LonghaulError as error:
            return {
                "directory": None,
                "studies": [],
                "why": {"message": error.message, "remedy": error.remedy},
            }
        return {
            "directory": str(directory),
            "studies": [_row(each) for each in studies_in(directory)],
            "why": None,
        }

    def look(self, asked: Asked) -> StudyDetails:
        """A study with its parts, claims and figures."""
        found = self._find(asked.path["study"])
        told = found.as_full_json()
        return {
            **_row(found),
            "paper": found.paper.paper,
            "parts": [_part(found, name) for name in found.claims.parts],
            "claims": told["claims"],
        }

    def figure(self, asked: Asked) -> Picture:
        """A picture of a study."""
        found, name = self._find(asked.path["study"]), asked.path["figure"]
        known = {each for part in found.measured_parts.values() for each in part.get("figures", {})}
        path = found.figure(name)
        if name not in known or not path.is_file() or path.stat().st_size > _MOST_PICTURE_BYTES:
            raise RefusedError(
                Code.PAGE_NOT_FOUND,
                404,
                "the study has no such figure",
                remedy=f"draw it with: longhaul study draw {found.name}",
            )
        return {"name": name, "media_type": "image/png", "base64": b64encode(path.read_bytes()).decode()}

    def start(self, asked: Asked, body: StudyStart) -> Job:
        """Run a study, or some of its parts, as ``longhaul study run`` does."""
        from longhaul.studies import program

        found = self._find(asked.path["study"])
        known = {*found.claims.parts, *(part.how for part in found.claims.parts.values())}
        for each in body.only:
            if each not in known:
                raise RefusedError(
                    Code.WORD_UNKNOWN,
                    400,
                    f'{found.name} has no part "{each}"',
                    remedy=f"write one of {', '.join(found.claims.parts)}",
                )
        more = program.arguments(body.only, rounds=body.rounds, small=body.small, resume=body.resume)
        words = ["study", "run", found.name, *more, "--directory", str(found.shared)]
        # Live parts of two studies would disturb each other.
        return self.jobs.start(
            words, kind=KIND, title=f"study {found.name}", alone=(KIND, "calibrate", "kernel"), read=_progress
        )

    def _find(self, name: str) -> "StudyFolder":
        from longhaul.studies.catalogue import find_directory, pick

        (found,) = pick(find_directory(None, start=self.jobs.directory), [name])
        return found


def _progress(line: str) -> JobProgress | None:
    begun = read_headline(line)
    if begun is None:
        return None
    return {
        "done": begun.number - 1,
        "of": begun.of,
        "text": f"part {begun.number} of {begun.of}: {begun.name}",
        "left_text": begun.left_text,
    }


def _row(study: "StudyFolder") -> StudyRow:
    told = study.as_json()
    took_s = told["took_s"]
    return {
        "study": told["study"],
        "about": told["about"],
        "measured": told["measured"],
        "took_s": took_s,
        "took_text": "" if took_s is None else duration_text(took_s),
        "counts": {str(word): count for word, count in told["counts"].items()},
        "results": told["results"],
    }


def _part(study: "StudyFolder", name: str) -> StudyPart:
    from longhaul.studies.provenance import sentence

    part, results = study.claims.parts[name], study.measured_parts.get(name)
    took_s = study.part_took_s(name)
    figures: list[StudyFigure] = [
        {
            "name": figure,
            "repeats": [
                {"name": each.name, "shows": each.shows, "place": each.place}
                for each in study.paper.figures
                if figure in each.ours
            ],
        }
        for figure in (results or {}).get("figures", {})
    ]
    return {
        "name": name,
        "how": part.how,
        "about": part.about,
        "command": study.command(name),
        "measured": sentence(results["provenance"]) if results else "",
        "took_text": "" if took_s is None else duration_text(took_s),
        "notes": list(results["notes"]) if results else [],
        "figures": figures,
    }
