"""Results of a repetition: what those of every kind of artifact have in common, and their files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from longhaul import storage
from longhaul.units.text import duration_text

FOLDER = "reproduction"
"""Of results and repetitions, in an artifact."""


@dataclass(frozen=True)
class Times:
    """How long a repetition took, in s."""

    set_up: float
    execution: float
    analysis: float

    def as_json(self) -> dict[str, float]:
        """For programs."""
        return {name: round(value, 3) for name, value in vars(self).items()}

    def sentence(self) -> str:
        """For people."""
        return (
            f"Set-up {duration_text(self.set_up)}, execution {duration_text(self.execution)}, "
            f"analysis {duration_text(self.analysis)}."
        )


class Reproduction(Protocol):
    """What came out of a repetition."""

    @property
    def is_reproduced(self) -> bool:
        """Whether the published results are."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""

    def page(self) -> str:
        """The results as Markdown."""


def write(directory: Path, made: Reproduction) -> Path:
    """Write ``reproduction/README.md`` and ``results.json`` into an artifact; returns the page."""
    place = directory / FOLDER
    if not place.is_dir():
        storage.make_directory(place)
    storage.replace_json(place / "results.json", made.as_json())
    storage.replace_text(place / "README.md", made.page())
    return place / "README.md"
