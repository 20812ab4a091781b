"""The study that `docs/how-to/studies.md` writes."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/how-to/studies.md"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """Language, title and text of each block of the page."""
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def write_files(place: Path) -> Path:
    """Write the files of the page below `place`; returns the directory of the study."""
    for _language, title, text in blocks():
        if title:
            path = place / title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return place / "my-studies/queue_delay"
