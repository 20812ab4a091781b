"""Requests about comparisons of runs."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from longhaul.diagnostics import Code
from longhaul.page import run_list
from longhaul.page.bodies import RunComparison
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.studies import Comparison
from longhaul.page.text_requests import Texts

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Comparisons:
    """Answers about several runs of one directory."""

    texts: Texts

    @property
    def runs(self) -> Path:
        """Where run directories are."""
        return self.texts.directory / "runs"

    def compare(self, _asked: Asked, body: RunComparison) -> Comparison:
        """Runs side by side; a list within ``runs`` counts as repetitions."""
        from longhaul.page.comparison import compare

        return finite(compare(found_groups(self.runs, body), body))


def found_groups(runs: Path, body: RunComparison) -> list[list[Path]]:
    """The run directories of a comparison. Raises RefusedError if one is not there, or has no results."""
    names = [[each] if isinstance(each, str) else each for each in body.runs]
    return [[_with_results(runs, each) for each in group] for group in names]


def _with_results(runs: Path, name: str) -> Path:
    directory = run_list.find(runs, name)
    if not (directory / "summary.json").is_file():
        raise RefusedError(
            Code.PAGE_CONFLICT, 409, f"{directory.name} has no results yet", remedy="wait for its end"
        )
    return directory


def finite(content: Answer) -> Answer:
    """``content`` for JSON, which knows no infinity."""
    return cast("Answer", _known(content))


def _known(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _known(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [_known(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
