"""The tour in docs runs from top to bottom, and shows what was committed."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[2] / "docs/tutorial/tour.ipynb"
_OF_THE_DAY = re.compile(r"\d{8}T\d{6}Z-(sim|sweep)-[0-9a-f]{8}(-\d+)?")


@pytest.fixture(scope="module")
def ran() -> Any:
    notebook = nbformat.read(TOUR, as_version=4)
    NotebookClient(notebook, timeout=300, record_timing=False, kernel_name="python3").execute()
    return notebook


def shown(notebook: Any) -> list[list[Any]]:
    """What each cell shows, without names of runs; of pictures, that there is one."""
    found = []
    for cell in notebook.cells:
        parts: list[Any] = []
        for output in cell.get("outputs", ()):
            data = {"text": output["text"]} if "text" in output else output.get("data", {})
            words = {kind: words_of(text) for kind, text in data.items() if kind != "image/svg+xml"}
            parts.append((output["output_type"], words, "image/svg+xml" in data or "<svg" in str(data)))
        found.append(parts)
    return found


def words_of(text: str) -> str:
    without = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
    return _OF_THE_DAY.sub("RUN", without)


def test_it_runs_and_shows_what_was_committed(ran: Any) -> None:
    committed = nbformat.read(TOUR, as_version=4)
    for cell, now, then in zip(ran.cells, shown(ran), shown(committed), strict=True):
        assert now == then, f"{cell.source}\n\nthe tour shows something else now: run tools/notebook"


def test_nothing_is_said_on_standard_error(ran: Any) -> None:
    outputs = [output for cell in ran.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.get("name") == "stderr"]


def test_it_is_small_and_names_no_place_of_ours() -> None:
    text = TOUR.read_text(encoding="utf-8")
    assert len(text) < 400_000
    assert not re.findall(r"/(?:home|root|work|Users)/", text)
    assert sum("image/svg+xml" in line for line in text.splitlines()) >= 5
