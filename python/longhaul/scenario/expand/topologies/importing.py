"""A topology, by file or name, as the text of a scenario."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.expand.topologies.chart import Chart, wrong
from longhaul.scenario.expand.topologies.distance import Fibre
from longhaul.scenario.expand.topologies.draft import written
from longhaul.scenario.expand.topologies.graphml import read_graphml
from longhaul.scenario.expand.topologies.layout import Choices, lay
from longhaul.scenario.expand.topologies.naming import node_name
from longhaul.scenario.expand.topologies.sndlib import MARK, read_native, read_xml_network
from longhaul.scenario.expand.topologies.teragrid import TeraGrid, teragrid
from longhaul.scenario.expand.topologies.xml import read_xml
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.quantities import Rate

BUILT_IN = ("teragrid",)
_LARGEST = 64 << 20
"""Bytes of a file at most."""


@dataclass(frozen=True)
class Made:
    """A scenario's text, and what is worth knowing about how it was made."""

    name: str
    text: str
    warnings: tuple[str, ...] = ()


def import_topology(source: Path, given: Mapping[str, Any]) -> Made:
    """The network in a file, GraphML or SNDlib, or the one built in that is called ``source``, as a scenario.

    ``given`` has values for fields of :class:`Fibre`, :class:`Choices` and :class:`TeraGrid`, and the unit of
    capacities; what is meant for the other kind of source is refused. Raises :class:`LonghaulError`.
    """
    mine = {each.name for each in fields(TeraGrid)}
    if str(source) in BUILT_IN and not source.exists():
        _refuse(given.keys() - mine, f"the built-in {source}")
        return Made(str(source), teragrid(str(source), TeraGrid(**given)))
    _refuse(given.keys() & mine, str(source))
    chart = read_chart(source, unit=given.get("capacity_unit"))
    fibre = Fibre(**{key: given[key] for key in given.keys() & {each.name for each in fields(Fibre)}})
    choices = Choices(
        fibre, **{key: given[key] for key in given.keys() & {each.name for each in fields(Choices)}}
    )
    name = node_name(chart.title or source.stem, otherwise="network")
    draft = lay(chart, name=name, file=source.name, choices=choices)
    return Made(name, written(draft), draft.warnings)


def _refuse(options: Iterable[str], what: str) -> None:
    for option in sorted(options):
        message = f"--{option.replace('_', '-')} does not apply to {what}"
        raise LonghaulError(Code.OPTION_CONFLICT, message, remedy="leave it out", exit_code=2)


def read_chart(path: Path, *, unit: Rate | None = None) -> Chart:
    """What ``path`` says; raises :class:`LonghaulError` with the line and a remedy."""
    content = _content(path)
    name = str(path)
    if content.lstrip(b"\xef\xbb\xbf").startswith(MARK):
        return read_native(content, name=name, unit=unit)
    if b"\0" in content[:4096]:
        raise wrong(name, None, "is not text", "take GraphML or SNDlib; unpack the file if it is packed")
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        hint = (
            "take the GraphML of this network"
            if content.lstrip().startswith(b"graph")
            else "take one of them"
        )
        raise wrong(name, 1, "is neither GraphML nor SNDlib", hint)
    root = read_xml(content, name=name)
    if root.tag == "graphml":
        return read_graphml(root, name=name)
    if root.tag == "network":
        return read_xml_network(root, name=name, unit=unit)
    raise wrong(name, root.line, f"<{root.tag}> is neither GraphML nor SNDlib", "take one of them")


def _content(path: Path) -> bytes:
    try:
        content = read_regular(path, most_bytes=_LARGEST + 1)
    except FileNotFoundError:
        shown = printable(str(path))
        names = ", ".join(BUILT_IN)
        near = did_you_mean(path.name, BUILT_IN) if "." not in path.name else "name a file that is there"
        raise LonghaulError(
            Code.FILE_UNREADABLE,
            f'there is no file "{shown}", and built in is {names}',
            remedy=near,
            exit_code=2,
        ) from None
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file that can be read", exit_code=2
        ) from None
    if len(content) > _LARGEST:
        raise wrong(str(path), None, f"has more than {_LARGEST >> 20} MiB", "use a part of it")
    return content
