"""The documentation site builds without warnings, has no broken link and loads nothing from elsewhere."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "zensical.toml"
LOADS = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
"""What a browser fetches to show a page; ``a`` is only followed on a click."""


class Page(HTMLParser):
    """The anchors of a page, and what it links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text: list[str] = []
        self._silent = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in ("script", "style", "code", "pre")
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif (tag, name) in LOADS and value:
                self.loads.append(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.append(value)

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style", "code", "pre")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text.append(data)


@cache
def page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def build(folder: Path) -> "subprocess.CompletedProcess[str]":
    """The site of ``folder/zensical.toml`` in ``folder/target/site``; every warning is an error."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def said(done: "subprocess.CompletedProcess[str]") -> str:
    """The warnings of a build, without colours and without the traceback that ends it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).partition("Traceback")[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "zensical.toml").write_bytes(CONFIG.read_bytes())
    copytree(ROOT / "docs", folder / "docs")
    done = build(folder)
    assert done.returncode == 0, said(done)
    return folder / "target/site"


def pages(site: Path) -> list[Path]:
    found = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    assert len(found) == len(list((ROOT / "docs").rglob("*.md")))
    return found


def test_links_and_pictures_of_the_site_lead_to_files_and_headings_that_exist(site: Path) -> None:
    wrong = []
    for path in pages(site):
        for link in page(path).links + page(path).loads:
            if re.match(r"[a-z]+:|//|\.$", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file.split("?")[0])).resolve() if file else path
            if not target.is_file() or (
                # After a picture, it says in which of the two themes it is shown.
                target.suffix == ".html"
                and anchor
                and anchor != "__skip"
                and unquote(anchor) not in page(target).anchors
            ):
                wrong.append(f"{path.relative_to(site)}: {link}")
    assert wrong == []


def test_the_site_loads_nothing_from_other_servers(site: Path) -> None:
    wrong = [
        f"{path.relative_to(site)}: {each}"
        for path in pages(site)
        for each in page(path).loads
        if re.match(r"[a-z]+:|//", each) and not each.startswith("data:")
    ]
    # The theme would load Mermaid for such a diagram.
    wrong += [str(path) for path in pages(site) if 'class="mermaid"' in path.read_text(encoding="utf-8")]
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        wrong += [
            f"{path.name}: {each}" for each in re.findall(r"(?:@import|url\()\s*[\"']?(https?:[^)]*)", text)
        ]
    assert wrong == []


def test_the_site_has_a_search_index_and_two_colour_schemes(site: Path) -> None:
    assert list(site.glob("search.*"))
    home = (site / "index.html").read_text(encoding="utf-8")
    assert 'data-md-color-scheme="default"' in home
    assert 'data-md-color-scheme="slate"' in home


def test_every_fence_and_list_is_rendered(site: Path) -> None:
    wrong = [
        f"{path.relative_to(site)}: {each!r}"
        for path in pages(site)
        for each in page(path).text
        if "```" in each or re.search(r"\w\n- \w", each) or re.match(r"\|.*\|$", each.strip())
    ]
    assert wrong == []


def titles(entries: list[Any]) -> Iterator[str]:
    """The files of a navigation, in its order."""
    for entry in entries:
        for value in [entry] if isinstance(entry, str) else entry.values():
            if isinstance(value, str):
                yield value
            else:
                yield from titles(value)


def test_the_navigation_has_every_page_once() -> None:
    named = list(titles(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]))
    assert len(set(named)) == len(named)
    assert set(named) == {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}


@pytest.mark.parametrize("link", ["missing.md", "README.md#missing"])
def test_a_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/README.md").write_text(f"# Home\n\n[there]({link})\n", encoding="utf-8")
    (tmp_path / "zensical.toml").write_text(
        '[project]\nsite_name = "x"\nsite_dir = "target/site"\n', encoding="utf-8"
    )
    done = build(tmp_path)
    assert done.returncode != 0
    assert "README.md:3:" in said(done)
