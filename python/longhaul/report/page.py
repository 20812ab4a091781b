"""The template and style that all reports share."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import unescape
from importlib.resources import files
from importlib.util import cache_from_source
from itertools import chain, count
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket

from longhaul.storage import replace_text


def page(
    template: str, *, context: Mapping[str, Any], filters: Mapping[str, Callable[..., Any]] | None = None
) -> str:
    """``template`` with ``context`` in it, as HTML that needs nothing else."""
    environment = Environment(
        loader=PackageLoader("longhaul.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_CompiledTemplates(),
    )
    environment.filters.update(filters or {})
    environment.globals["asset"] = asset
    return with_contents(environment.get_template(template).render(context))


_CONTENTS = "<!-- contents -->"
_HEADING = re.compile(r"<h2(?: id=\"([^\"]*)\")?>(.*?)</h2>", re.DOTALL)
LEAST_HEADINGS = 3
"""With fewer sections a page has no list of them."""


def with_contents(html: str) -> str:
    """``html`` with an ``id`` for each section, and links to them where the template wants them."""
    links: list[str] = []
    taken = set(re.findall(r'\bid="([^"]*)"', html))

    def named(heading: re.Match[str]) -> str:
        words = re.sub(r"<[^>]*>", "", heading[2]).strip()
        name = heading[1] or _free(re.sub(r"[^a-z0-9]+", "-", unescape(words).lower()).strip("-"), taken)
        taken.add(name)
        links.append(f'<a href="#{name}">{words}</a>')
        return f'<h2 id="{name}">{heading[2]}</h2>'

    content = _HEADING.sub(named, html)
    listed = f'<nav class="contents" aria-label="Contents">{" ".join(links)}</nav>'
    return content.replace(_CONTENTS, listed if len(links) >= LEAST_HEADINGS else "", 1)


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with a number if something has it."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


class _CompiledTemplates(BytecodeCache):
    """Compiled templates where Python keeps the compiled modules of this package, under the same conditions.

    Compiling the template of a run takes longer than filling it in. A template that has changed since is
    compiled again.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError), _place_of(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        place = _place_of(bucket)
        part = place.with_suffix(f".{os.getpid()}.part")
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            with part.open("xb") as file:
                bucket.write_bytecode(file)
            part.replace(place)


def _place_of(bucket: Bucket) -> Path:
    return Path(cache_from_source(__file__)).with_name(f"{bucket.key}.jinja")


def asset(name: str) -> str:
    """The text of a file of this package; templates mark it as safe."""
    return (files("longhaul.report") / name).read_text(encoding="utf-8")


def write_page(path: Path, content: str) -> None:
    """Put ``content`` in its place in one step: it is there whole, or not at all."""
    replace_text(path, content)
