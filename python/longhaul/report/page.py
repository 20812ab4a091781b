"""The template and style that all reports share."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from importlib.util import cache_from_source
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
    environment.globals["asset"] = _asset
    return environment.get_template(template).render(context)


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


def _asset(name: str) -> str:
    """The text of a file of this package; templates mark it as safe."""
    return (files("longhaul.report") / name).read_text(encoding="utf-8")


def write_page(path: Path, content: str) -> None:
    """Put ``content`` in its place in one step: it is there whole, or not at all."""
    replace_text(path, content)
