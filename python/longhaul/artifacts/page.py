"""The page of an artifact that a reviewer reads first: what all kinds have in common.

Each kind has a template ``README.md.j2`` in its package, which extends the one here.
"""

import re
from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from longhaul.artifacts.bundle import Archive
from longhaul.artifacts.description import About
from longhaul.units.text import bytes_text, count_text, duration_text


def page(template: str, about: About, archive: Archive, **values: Any) -> str:
    """``README.md`` of an artifact, from the ``template`` of its kind and the ``values`` that this needs."""
    environment = Environment(
        loader=PackageLoader("longhaul.artifacts", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown, not HTML
    )
    text = environment.get_template(template).render(
        about=about,
        wheels=archive.wheels,
        size=bytes_text(archive.size_bytes),
        took=duration_text,
        count=count_text,
        cell=cell,
        **values,
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def needs(kinds: Iterable[str]) -> list[str]:
    """What runs of these modes, or parts of these kinds, need beside Longhaul."""
    known = set(kinds)
    found = []
    if known & {"live", "mixed"}:
        found.append("network namespaces and TUN devices (`longhaul doctor`)")
    if "virtual" in known:
        found.append("a guest kernel (`longhaul kernel build`)")
    return found


def cell(text: str) -> str:
    """Text that ends no cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")
