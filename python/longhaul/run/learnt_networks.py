"""Networks behind interfaces of a machine that a scenario does not list: by its addresses and routes."""

import fcntl
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code
from longhaul.run.devices import INTERFACES
from longhaul.run.ports import EXIT_CANNOT

if TYPE_CHECKING:
    # An agent starts without what validates scenarios.
    from longhaul.scenario import Resolved
    from longhaul.scenario.model.address import AnyAddress, AnyNetwork

_ROUTES4 = Path("/proc/self/net/route")
_ROUTES6 = Path("/proc/self/net/ipv6_route")
_ADDRESSES6 = Path("/proc/self/net/if_inet6")
_SIOCGIFADDR = 0x8915
_RTF_UP = 1
_GLOBAL = "00"
"""Scope of an address in ``if_inet6``."""


@dataclass(frozen=True)
class Known:
    """What a machine knows of the hosts behind an interface, in the words of a port."""

    gateway: tuple[str, ...]
    """The machine's own addresses there, at most one of each family: what the hosts have as their gateway."""
    subnets: tuple[str, ...]
    """Networks, and the router that leads to those that are not on the segment."""


@dataclass(frozen=True)
class Interface:
    """An interface of a machine behind which networks are to be learnt."""

    device: str
    families: tuple[int, ...]
    """4, 6 or both: those of the scenario's addresses."""

    def is_here(self) -> bool:
        """Whether this machine has it."""
        return (INTERFACES / self.device).exists()


def to_learn(resolved: "Resolved") -> dict[str, Interface]:
    """The interfaces of ports that list no networks, by the key of their host."""
    from longhaul.scenario.model.port import NicPort

    document = resolved.scenario.document
    families = (4,) if document.addresses == "ipv4" else (6,) if document.addresses == "ipv6" else (4, 6)
    return {
        key: Interface(node.port.nic, families)
        for key, node in document.nodes.items()
        if isinstance(node.port, NicPort) and node.port.mode == "routed" and not node.port.subnets
    }


def with_learnt_networks(resolved: "Resolved") -> "Resolved":
    """``resolved`` with the networks that this machine knows. Raises ScenarioError if there are none."""
    # Of an interface that is not here something else is reported later.
    wanted = {key: each for key, each in to_learn(resolved).items() if each.is_here()}
    return with_networks(resolved, {key: known_of(each) for key, each in wanted.items()})


def with_networks(
    resolved: "Resolved", known: Mapping[str, Known], *, machines: Mapping[str, str] | None = None
) -> "Resolved":
    """``resolved`` with these networks behind ports, by the key of their host.

    ``machines`` has the name of each host's machine in a run on several. Raises ScenarioError where nothing
    is known.
    """
    from longhaul.scenario import ScenarioError, resolve
    from longhaul.scenario.model.port import NicPort

    document = resolved.scenario.document
    nodes = dict(document.nodes)
    problems = []
    for key, found in known.items():
        port = document.nodes[key].port
        assert isinstance(port, NicPort)
        if not found.subnets:
            on = f" on machine {machines[key]}" if machines else ""
            message = f"{port.nic} has no address{on} from which the networks behind it could be learnt"
            remedy = "write the networks behind it as subnets, or mode: bridge"
            path = ("nodes", key, "port")
            problems.append(resolved.scenario.problem(Code.KEY_MISSING, path, message, remedy))
            continue
        learnt = {"nic": port.nic, "force": port.force}
        port = NicPort.model_validate(
            {**learnt, "gateway": list(found.gateway), "subnets": list(found.subnets)}
        )
        nodes[key] = document.nodes[key].model_copy(update={"port": port})
    if problems:
        refused = ScenarioError(problems)
        refused.exit_code = EXIT_CANNOT
        raise refused
    if nodes == document.nodes:
        return resolved
    scenario = replace(resolved.scenario, document=document.model_copy(update={"nodes": nodes}))
    return resolve(scenario, seed=resolved.plan["seed"])


def known_of(interface: Interface) -> Known:
    """What this machine's addresses and routes tell of an interface."""
    device = interface.device
    addresses = tuple(
        address
        for version, found in ((4, _address4(device)), (6, _address6(device)))
        if version in interface.families and (address := found) is not None
    )
    routes = [
        route
        for address in addresses
        for route in (_routes4(device) if address.version == 4 else _routes6(device))
    ]
    segment = [network for network, via in routes if via is None]
    # A router that is not on the segment, such as one with a link-local address, cannot be named.
    usable = (each for each in routes if each[1] is None or any(each[1] in network for network in segment))
    networks = dict.fromkeys(usable)
    return Known(
        tuple(map(str, addresses)),
        tuple(str(net) if via is None else f"{net} via {via}" for net, via in networks),
    )


def _address4(device: str) -> IPv4Address | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        request = struct.pack("16s24x", device.encode())
        try:
            answer = fcntl.ioctl(stream, _SIOCGIFADDR, request)
        except OSError:
            return None
    return IPv4Address(answer[20:24])


def _address6(device: str) -> IPv6Address | None:
    for line in _lines(_ADDRESSES6):
        address, _index, _bits, scope, _flags, name = line.split()
        if name == device and scope == _GLOBAL:
            return IPv6Address(bytes.fromhex(address))
    return None


def _routes4(device: str) -> "Iterator[tuple[AnyNetwork, AnyAddress | None]]":
    """Networks that IPv4 routes by the interface lead to; not the default route."""
    for line in _lines(_ROUTES4)[1:]:
        name, network, gateway, flags, _references, _use, _metric, mask = line.split()[:8]
        bits = int(mask, 16).bit_count()
        if name != device or not int(flags, 16) & _RTF_UP or bits == 0:
            continue
        address, via = (IPv4Address(bytes.fromhex(each)[::-1]) for each in (network, gateway))
        yield ip_network((address, bits)), via if int(via) else None


def _routes6(device: str) -> "Iterator[tuple[AnyNetwork, AnyAddress | None]]":
    """The same of IPv6, without the kernel's own routes of link-local, multicast and single addresses."""
    for line in _lines(_ROUTES6):
        fields = line.split()
        address, bits = IPv6Address(bytes.fromhex(fields[0])), int(fields[1], 16)
        if fields[9] != device or not int(fields[8], 16) & _RTF_UP or bits in (0, 128):
            continue
        if address.is_link_local or address.is_multicast:
            continue
        via = IPv6Address(bytes.fromhex(fields[4]))
        yield ip_network((address, bits)), via if int(via) else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
