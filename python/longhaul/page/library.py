"""Starting points: templates, topologies, and the included scenarios."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from longhaul.diagnostics import Code
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.texts import BuiltIn, Option, Template
from longhaul.scenario.edit.templates import TEMPLATES, template, topology_template
from longhaul.scenario.model.topology import Topology

SCENARIOS = Path(__file__).parent / "scenarios"
"""The scenarios of the project, with the traces that they name."""
_EMPTY = """\
version: 1
name: {name}
seed: 1
duration: 30s
"""
_SHARED = ("kind", "access", "wan", "ground", "space", "mtu", "addresses")
"""Options that topologies have in common, and that are written in the file."""
_TOPOLOGY = "topology-"
"""Begins the names of topologies that are called like a template."""
_FIRST = {
    "sites": {"sites": "{par: [48.85, 2.35], ams: [52.37, 4.9], nyc: [40.71, -74.01]}"},
    "constellation": {"stations": "{london: London, nyc: New York}"},
}
"""By kind of topology, what a form begins with where an option has no default."""


def templates() -> list[Template]:
    """Name, title, and options with their defaults as a scenario writes them."""
    found: list[Template] = [{"name": "empty", "title": "Nothing but a name.", "options": []}]
    found += [{"name": name, "title": title, "options": []} for name, (title, _body) in TEMPLATES.items()]
    for model in get_args(Topology):
        (kind,) = get_args(model.model_fields["kind"].annotation)
        title = (model.__doc__ or "").strip().splitlines()[0]
        name = f"{_TOPOLOGY}{kind}" if kind in TEMPLATES else kind
        found.append({"name": name, "title": title, "options": _options(model, _FIRST.get(kind, {}))})
    return found


def write_template(name: str, options: Mapping[str, str]) -> str:
    """The text of template ``name``; ``options`` are those of a topology, and ``name``, the scenario's."""
    called = options.get("name", "unnamed")
    rest = {key: value for key, value in options.items() if key != "name"}
    if name == "empty":
        # What names a scenario is checked where all templates are.
        template(called)
        return _EMPTY.format(name=called)
    if name in TEMPLATES:
        return template(called, kind=name)
    kind = name.removeprefix(_TOPOLOGY)
    return topology_template(called, kind=kind, options={**_FIRST.get(kind, {}), **rest})


def scenarios() -> list[BuiltIn]:
    """Name, first line and comment of each scenario of the project."""
    return [
        {"name": path.stem, "title": (comment.splitlines() or [""])[0], "comment": comment}
        for path in sorted(SCENARIOS.glob("*.yaml"))
        for comment in [_comment(path.read_text(encoding="utf-8"))]
    ]


def read_scenario(name: str) -> str:
    """Its text; raises :class:`RefusedError`."""
    known = {path.stem: path for path in SCENARIOS.glob("*.yaml")}
    if name not in known:
        raise RefusedError(
            Code.PAGE_NOT_FOUND, 404, "there is no such scenario", remedy=", ".join(sorted(known))
        )
    return known[name].read_text(encoding="utf-8")


def _comment(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    return "\n".join(lines).strip()


def _options(model: Any, first: Mapping[str, str]) -> list[Option]:
    """Fields that have a default of one word, or must be written; the rest is for the file."""
    found: list[Option] = []
    descriptions = model.descriptions()
    for name, field in model.model_fields.items():
        if name in _SHARED or field.default is None or (field.is_required() and name not in first):
            continue
        default = first[name] if field.is_required() else field.default
        text = f"[{', '.join(map(str, default))}]" if isinstance(default, tuple) else str(default)
        text = text.lower() if isinstance(default, bool) else text
        choices = [each for each in get_args(field.annotation) if isinstance(each, str)]
        found.append({"name": name, "about": descriptions.get(name, ""), "default": text, "choices": choices})
    return found
