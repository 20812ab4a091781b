"""The mapping of nodes and links to machines as a table, and edits of its file that keep the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from longhaul.diagnostics import Code, Diagnostic, Span
from longhaul.errors import LonghaulError
from longhaul.export.deployment import deploy
from longhaul.export.machines import Machines, parse_machines
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import Resolved
from longhaul.scenario.edit.edits import Edit, edit
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, Leaf, Node, Path, read_tree

FILE = "machines.yaml"
_EMPTY = "version: 1\n"


@dataclass(frozen=True)
class MachineRow:
    """The machine of a node, or of a link that has one: what is written of it, and its default devices."""

    name: str
    is_link: bool
    address: str
    user: str
    devices: dict[str, str]
    """By the link; of a link's own machine by the node at that end."""
    is_written: bool
    """Whether the file has the devices; if not, they are the defaults."""


@dataclass(frozen=True)
class Mapped:
    """The machines of a network, and everything that is wrong with their file."""

    rows: tuple[MachineRow, ...]
    links: tuple[str, ...]
    """Links without a machine of their own."""
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class MachineEdit:
    """One edit: a ``column`` of a machine, where a device is that of ``link``; or a machine for a link.

    Without ``text`` an address, a user or a device is removed.
    """

    op: Literal["set", "add", "remove"]
    machine: str
    column: Literal["address", "user", "device"] = "address"
    link: str = ""
    text: str = ""


def map_machines(text: str, resolved: Resolved, *, kernel: Kernel) -> Mapped:
    """The machines of ``resolved`` as ``text`` has them; without text each node is one."""
    plan = resolved.plan
    names = [node["name"] for node in plan["nodes"] if node.get("of") is None]
    ends = {
        link["name"]: [plan["nodes"][each]["name"] for each in link["endpoints"]] for link in plan["links"]
    }
    machines: Machines | None = None
    entries: Mapping[str, Node] = {}
    problems: list[Diagnostic] = []
    if text.strip():
        try:
            _source, tree = read_tree(FILE, text.encode())
            found = tree.entries.get("machines", (None, None))[1]
            entries = {name: node for name, (_place, node) in _branch(found).entries.items()}
            machines = parse_machines(text.encode(), name=FILE)
            deploy(resolved, machines=machines, kernel=kernel)
        except ScenarioError as error:
            problems += error.diagnostics
    own = [name for name in ends if name in entries and name not in names]
    rows = []
    for name in (*names, *own):
        entry = _branch(entries.get(name))
        wanted = ends[name] if name in own else [link for link, both in ends.items() if name in both]
        written = {
            key: _device(node) for key, (_place, node) in _branch(_inner(entry, "interfaces")).entries.items()
        }
        defaults = {each: f"eth{number}" for number, each in enumerate(wanted, start=1)}
        rows.append(
            MachineRow(
                name=name,
                is_link=name in own,
                address=_text(_inner(entry, "address")),
                user=_text(_inner(entry, "user")),
                devices={each: written.get(each, "") for each in wanted} if written else defaults,
                is_written=bool(written),
            )
        )
    links = tuple(name for name in ends if name not in entries and name not in names)
    return Mapped(tuple(rows), links, tuple(problems))


def edit_machines(text: str, edits: Sequence[MachineEdit], mapped: Mapped) -> str:
    """``text`` with all ``edits``. Raises LonghaulError if one cannot be made.

    The first device of a machine that is written brings the defaults of the others with it.
    """
    rows = {row.name: row for row in mapped.rows}
    for each in edits:
        if not text.strip():
            text = _EMPTY
        path = ("machines", each.machine)
        if each.op == "add":
            if each.machine not in mapped.links:
                raise _refused(f'there is no link "{each.machine}" without a machine', "choose a link")
            text = edit(text, [Edit("set", path, {"address": each.text or "192.0.2.1"})]).text
            continue
        if each.op == "remove":
            text = edit(text, [Edit("remove", path)]).text
            continue
        row = rows.get(each.machine)
        if row is None:
            raise _refused(f'there is no machine "{each.machine}"', "load the table again")
        text = _set(text, each, row)
    return text


def _set(text: str, each: MachineEdit, row: MachineRow) -> str:
    path: Path = ("machines", each.machine)
    value = each.text.strip()
    if each.column == "device":
        if each.link not in row.devices:
            raise _refused(f'{row.name} has no link "{each.link}"', f"write one of {', '.join(row.devices)}")
        if not row.is_written:
            devices = {**row.devices, each.link: value}
            return edit(text, [Edit("set", (*path, "interfaces"), devices)]).text
        where: Path = (*path, "interfaces", each.link)
    else:
        where = (*path, each.column)
    if value:
        return edit(text, [Edit("set", where, value)]).text
    written = row.devices.get(each.link) if each.column == "device" else getattr(row, each.column)
    return edit(text, [Edit("remove", where)]).text if written else text


def _branch(node: Node | None) -> Branch:
    return node if isinstance(node, Branch) else Branch(Span(1, 1))


def _inner(branch: Branch, key: str) -> Node | None:
    return branch.entries[key][1] if key in branch.entries else None


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Leaf) else ""


def _device(node: Node) -> str:
    """Of ``eth1``, or of ``{device: eth1, address: ...}``."""
    return _text(_inner(node, "device")) if isinstance(node, Branch) else _text(node)


def _refused(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.EDIT_IMPOSSIBLE, message, remedy=remedy, exit_code=2)
