"""The built page in the package is that of the sources in web/; no node is needed to tell."""

import gzip
import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "web"
BUILT = ROOT / "python" / "longhaul" / "page" / "static"
TOP = (
    "index.html",
    "package.json",
    "package-lock.json",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
    "vite.notebook.config.ts",
    "vite.report.config.ts",
)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_built_page_is_of_these_sources():
    """The same sum as web/tools/manifest.mjs makes."""
    below = [
        path.relative_to(WEB).as_posix()
        for folder in ("public", "src")
        for path in (WEB / folder).rglob("*")
        if path.is_file()
    ]
    lines = [f"{name} {_digest((WEB / name).read_bytes())}\n" for name in sorted([*TOP, *below])]
    built = json.loads((BUILT / "manifest.json").read_text())["sources"]
    assert built == _digest("".join(lines).encode()), "run: cd web && npm ci && npm run build"


def test_the_page_asks_nobody_but_its_server():
    """Every file that the page names is in the package, and none is of another host."""
    page = (BUILT / "index.html").read_text()
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert named
    for each in named:
        assert not each.startswith(("http", "//")), each
        assert (BUILT / each).is_file(), each
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)


def test_the_first_load_is_small():
    """Under 150 kB gzip: the document, and what it names."""
    page = (BUILT / "index.html").read_text()
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    total = sum(len(gzip.compress((BUILT / each).read_bytes())) for each in [*named, "index.html"])
    assert total < 150_000
