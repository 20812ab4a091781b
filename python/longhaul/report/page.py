"""The template and style that all reports share."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

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
    )
    environment.filters.update(filters or {})
    environment.globals["asset"] = _asset
    return environment.get_template(template).render(context)


def _asset(name: str) -> str:
    """The text of a file of this package; templates mark it as safe."""
    return (files("longhaul.report") / name).read_text(encoding="utf-8")


def write_page(path: Path, content: str) -> None:
    """Put ``content`` in its place in one step: it is there whole, or not at all."""
    replace_text(path, content)
