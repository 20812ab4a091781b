"""The file that maps nodes and links to machines and interfaces."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, ip_address
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.scenario.model.base import Count, Name, Strict, problem
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.yaml_tree import Branch, Path, Source, follow, read_file, read_tree

_DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,14}([.:][0-9]{1,4})?")
_LONGEST_DEVICE = 15
"""IFNAMSIZ less one."""


def _device(value: str) -> str:
    if not _DEVICE.fullmatch(value) or len(value) > _LONGEST_DEVICE:
        message = f'"{printable(value)}" is not a name of a network device'
        raise problem(Code.NAME_INVALID, message, "write for example eth1, or eth1.12 for VLAN 12")
    vlan = value.partition(".")[2]
    if vlan and not 1 <= int(vlan) <= 4094:
        raise problem(Code.OUT_OF_RANGE, f"{vlan} is not a VLAN", "write a number from 1 to 4094")
    return value


def _address(value: str) -> str:
    try:
        return str(ip_address(value))
    except ValueError:
        raise problem(
            Code.ADDRESS_MALFORMED, f'"{printable(value)}" is not an address', "write for example 192.0.2.11"
        ) from None


def _ipv4(value: str) -> str:
    try:
        return str(IPv4Address(value))
    except AddressValueError:
        raise problem(
            Code.ADDRESS_MALFORMED,
            f'"{printable(value)}" is not an IPv4 address',
            "write for example 192.168.1.2",
        ) from None


def _interface(value: Any) -> Any:
    return {"device": value} if isinstance(value, str) else value


Device = Annotated[str, AfterValidator(_device)]
Ipv4 = Annotated[str, AfterValidator(_ipv4)]


class Interface(Strict):
    """What joins a machine to a link."""

    device: Annotated[Device, Field(examples=["eth1"])]
    address: Ipv4 | None = None
    """In eWAN's style, where each link is a subnet."""


class Entry(Strict):
    """One machine."""

    address: Annotated[str, AfterValidator(_address), Field(examples=["192.0.2.11"])]
    """Where it is managed."""
    user: Name | None = None
    """Who Ansible logs in as."""
    number: Annotated[int, Count(at_least=0, at_most=10**6)] | None = None
    interfaces: dict[str, Annotated[Interface, BeforeValidator(_interface)]] = Field(default_factory=dict)
    """By the link's name; of a link's own machine by the node's at that end."""


class Management(Strict):
    """The network that machines are managed over; eWAN's scripts set it up, too."""

    device: Device = "eth0"
    gateway: Ipv4


class Document(Strict):
    """The whole file."""

    version: Literal[1]
    management: Management | None = None
    machines: dict[str, Entry]


@dataclass(frozen=True)
class Machines:
    """The file, checked by itself, and where everything stands in it."""

    document: Document
    source: Source
    tree: Branch

    def problem(self, code: Code, path: Path, message: str, remedy: str) -> Diagnostic:
        """A problem at ``path``."""
        place, _node, _walked = follow(self.tree, path)
        return self.source.problem(code, place, path, message, remedy)


def read_machines(path: FilePath) -> Machines:
    """The machines of the file ``path``; raises :class:`ScenarioError` with every problem in it."""
    return parse_machines(read_file(path), name=str(path))


def parse_machines(content: bytes, *, name: str) -> Machines:
    """The machines in ``content``, which errors call ``name``; raises as :func:`read_machines` does."""
    source, tree = read_tree(name, content)
    document, problems = validate(source, tree, Document)
    if document is None or problems:
        raise ScenarioError(problems)
    return Machines(document, source, tree)


def check_machines(
    machines: Machines, *, nodes: Iterable[str], ends: dict[str, tuple[str, str]], taken: Iterable[str]
) -> list[Diagnostic]:
    """What is wrong with ``machines`` for a network of ``nodes`` and links with these ``ends``.

    ``taken`` are the addresses of the network itself, which no machine may be managed at.
    """
    found: list[Diagnostic] = []
    entries = machines.document.machines
    names, used = list(nodes), set(taken)
    managed: dict[str, str] = {}
    for name, entry in entries.items():
        here: Path = ("machines", name)
        if name not in names and name not in ends:
            message = f'there is no node or link "{printable(name)}"'
            found.append(
                machines.problem(Code.MACHINES_INVALID, here, message, did_you_mean(name, (*names, *ends)))
            )
            continue
        if entry.address in used:
            message = f"{entry.address} is an address of the emulated network"
            remedy = "manage the machine by another; longhaul show prints those of the network"
            found.append(machines.problem(Code.MACHINES_INVALID, (*here, "address"), message, remedy))
        if entry.address in managed:
            message = f'"{managed[entry.address]}" has this address, too'
            found.append(
                machines.problem(
                    Code.MACHINES_INVALID, (*here, "address"), message, "give each machine its own"
                )
            )
        managed.setdefault(entry.address, name)
        own = [link for link, both in ends.items() if name in both]
        wanted = own if name in names else list(ends[name])
        found += _interfaces(machines, here, entry, wanted)
    for name in names:
        if name not in entries:
            message = f'node "{name}" has no machine'
            remedy = f"add for example {name}: {{address: 192.0.2.11}}"
            found.append(machines.problem(Code.MACHINES_INVALID, ("machines",), message, remedy))
    return found


def _interfaces(machines: Machines, here: Path, entry: Entry, wanted: list[str]) -> list[Diagnostic]:
    found = []
    owners: dict[str, str] = {}
    for key, interface in entry.interfaces.items():
        path = (*here, "interfaces", key)
        if key not in wanted:
            found.append(
                machines.problem(
                    Code.MACHINES_INVALID,
                    path,
                    f'there is no node or link "{key}"',
                    did_you_mean(key, wanted),
                )
            )
        if interface.device in owners:
            message = f'"{owners[interface.device]}" uses {interface.device}, too'
            remedy = f"write another, or VLANs: {interface.device.partition('.')[0]}.11"
            found.append(machines.problem(Code.MACHINES_INVALID, path, message, remedy))
        owners.setdefault(interface.device, key)
    missing = [name for name in wanted if name not in entry.interfaces]
    if entry.interfaces and missing:
        remedy = f"add for example {missing[0]}: eth1"
        path = (*here, "interfaces")
        found.append(
            machines.problem(Code.MACHINES_INVALID, path, f'has no interface for "{missing[0]}"', remedy)
        )
    return found
