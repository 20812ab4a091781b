"""Which tool a file is of, and its lab as a scenario."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.importers.compose import read_compose
from longhaul.importers.containerlab import read_containerlab
from longhaul.importers.draft import Lab, made
from longhaul.importers.kollaps import read_kollaps
from longhaul.importers.mininet import named_topology, topology_of_program
from longhaul.importers.netlab import read_netlab
from longhaul.importers.yaml_file import get, read_lab
from longhaul.regular_files import read_regular
from longhaul.scenario.expand.topologies.importing import Made, import_topology
from longhaul.scenario.expand.topologies.xml import read_xml

MININET = "mininet"
"""The built-in source of ``mn --topo``."""
_LARGEST = 4 << 20
"""Bytes of a lab's file at most."""
_OWN = ("topo", "link", "netem", "execute", "containers")
"""Options of labs."""


def import_source(source: Path, given: Mapping[str, Any]) -> Made:
    """The network of ``source``, a file or a built-in name, as a scenario. Raises LonghaulError.

    ``given`` has the command's options that the user gave.
    """
    lab = _lab(source, given)
    if lab is None:
        for option in _OWN:
            _refuse(option, given, str(source))
        return import_topology(source, given)
    for option in given.keys() - set(_OWN):
        _refuse(option, given, f"a topology of {lab.format}")
    return made(lab)


def _refuse(option: str, given: Mapping[str, Any], what: str) -> None:
    if option in given:
        message = f"--{option.replace('_', '-')} does not apply to {what}"
        raise LonghaulError(Code.OPTION_CONFLICT, message, remedy="leave it out", exit_code=2)


def _lab(source: Path, given: Mapping[str, Any]) -> Lab | None:
    """The lab of ``source``; ``None`` if it is a graph of sites, or not there."""
    if str(source) == MININET and not source.exists():
        for option in ("netem", "execute", "containers"):
            _refuse(option, given, MININET)
        return named_topology(str(given.get("topo", "minimal")), given.get("link"))
    if source.suffix == ".py" and source.is_file():
        for option in ("netem", "link", "containers"):
            _refuse(option, given, f"a Python file of Mininet ({source})")
        return topology_of_program(source, topo=given.get("topo"), execute=bool(given.get("execute")))
    try:
        content = read_regular(source, most_bytes=_LARGEST + 1)
    except (OSError, ValueError):
        return None
    for option in ("topo", "link", "execute"):
        _refuse(option, given, str(source))
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        _refuse("containers", given, str(source))
        root = read_xml(content, name=str(source)) if b"<experiment" in content[:65_536] else None
        return read_kollaps(root, file=source.name) if root is not None and root.tag == "experiment" else None
    if source.suffix not in (".yml", ".yaml"):
        return None
    return _yaml_lab(source, content, given)


def _yaml_lab(source: Path, content: bytes, given: Mapping[str, Any]) -> Lab:
    root, file = read_lab(str(source), content), source.name
    containers = given.get("containers")
    if get(root, "topology") is not None and get(root, "version") is None:
        netem = _script(given["netem"]) if given.get("netem") else None
        return read_containerlab(content, file=file, netem=netem, containers=containers)
    _refuse("netem", given, str(source))
    if get(root, "services") is not None:
        return read_compose(content, path=source, containers=containers)
    _refuse("containers", given, str(source))
    if get(root, "nodes") is not None and get(root, "links") is not None and get(root, "version") is None:
        return read_netlab(content, file=file)
    raise LonghaulError(
        Code.FOREIGN_FILE_MALFORMED,
        f"{source} has no topology (containerlab), services (docker-compose), or nodes and links (netlab)",
        remedy="take a file of one of these; a scenario of Longhaul needs no import",
        exit_code=2,
    )


def _script(path: Path) -> bytes:
    try:
        return read_regular(path, most_bytes=_LARGEST)
    except OSError as error:
        message = f"cannot read {path}: {(error.strerror or 'it fails').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file that is there", exit_code=2
        ) from None
