"""Links between documents lead to files and headings that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "studies").rglob("*.md")),
)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def prose(path: Path) -> str:
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a document, as GitHub makes them."""
    found: list[str] = []
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return set(found)


def dead_links(path: Path) -> list[str]:
    dead = []
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(prose(target))
        ):
            dead.append(link)
    return dead


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_document_lead_somewhere(path: Path) -> None:
    assert dead_links(path) == []


def test_a_link_to_a_missing_file_or_heading_is_dead(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# One `two`: three\n## Four\n[a](#one-two-three) [b](#five) [c](b.md) [d](a.md#four)\n")
    assert dead_links(page) == ["#five", "b.md"]
