"""Requests that annotate, delete or restore runs and sweeps, and archive, compare or repeat runs."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.page import run_list
from longhaul.page.bodies import AnnotationsSave, RunArchive, RunComparison
from longhaul.page.comparison_requests import found_groups
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.runs import Annotated, Begun, Ticket
from longhaul.page.responses.texts import Done
from longhaul.page.run_requests import Experiments
from longhaul.results import annotations, trash
from longhaul.results.annotations import Annotations


@dataclass(frozen=True)
class RunActions:
    """Annotates, deletes, restores, archives, compares and repeats the runs of one directory."""

    experiments: Experiments

    @property
    def runs(self) -> Path:
        """Where run directories are."""
        return self.experiments.runs

    def annotate(self, asked: Asked, body: AnnotationsSave) -> Annotated:
        """Replace the annotations of a run or a sweep."""
        new = Annotations(body.title, tuple(body.tags), body.note)
        return run_list.annotated(annotations.write(self._any_directory(asked), new, before=body.etag))

    def delete(self, asked: Asked) -> Done:
        """Move a run or a sweep that has ended to the trash."""
        directory = self._any_directory(asked)
        self.experiments.forget(asked.path["run"])
        trash.delete(directory)
        return {"ok": True}

    def restore(self, asked: Asked) -> Done:
        """Move a run or a sweep back from the trash."""
        place = self._confined(run_list.find_any(self.runs / trash.NAME, asked.path["run"]))
        trash.restore(place)
        return {"ok": True}

    def archive(self, _asked: Asked, body: RunArchive) -> Ticket:
        """An address at which runs can be downloaded as one file, once."""
        from longhaul.artifacts.archive import archive

        found = [run_list.find(self.runs, each) for each in dict.fromkeys(body.runs)]
        names = list(dict.fromkeys(each.parent.name for each in found))
        what = found[0].name if len(found) == 1 else f"{len(found)}-runs"
        place = Path(tempfile.mkdtemp(prefix="longhaul-archive-"))
        output = place / f"{names[0] if len(names) == 1 else 'longhaul'}-{what}.tar.gz"
        try:
            archive(output, found)
        except BaseException:
            output.unlink(missing_ok=True)
            place.rmdir()
            raise
        return self.experiments.admit(output, is_ours=True)

    def report(self, _asked: Asked, body: RunComparison) -> Ticket:
        """An address at which the report of a comparison opens, once."""
        from longhaul.page.comparison import write_report

        place = Path(tempfile.mkdtemp(prefix="longhaul-comparison-")) / "comparison.html"
        try:
            write_report(place, found_groups(self.runs, body), body)
        except BaseException:
            place.parent.rmdir()
            raise
        return self.experiments.admit(place, is_ours=True)

    def reproduce(self, asked: Asked) -> Begun:
        """Start the scenario of a run again, with its seed and with its files as they were."""
        return self.experiments.start_again(self._directory(asked))

    def _directory(self, asked: Asked) -> Path:
        return self._confined(run_list.find(self.runs, asked.path["run"]))

    def _any_directory(self, asked: Asked) -> Path:
        return self._confined(run_list.find_any(self.runs, asked.path["run"]))

    def _confined(self, directory: Path) -> Path:
        """``directory``, unless a link leads out of the directory that the page shows."""
        if not directory.resolve().is_relative_to(self.experiments.texts.directory.resolve() / "runs"):
            raise RefusedError(
                Code.FILE_UNREADABLE,
                403,
                f"{directory.name} leads out of the directory that the page shows",
                remedy="open the page in the directory that has the run",
            )
        return directory
