"""Addresses in the order of the file, so that additions at the end change none.

The k-th router is site k. Its j-th host (in the order of the file) has 10.k.0.j, and the router 10.k.255.254;
with IPv6 fd00:6c68:0:k::j and fd00:6c68:0:k::ffff. The site's
j-th further interface, of hosts that have several, has 10.k.254.j and fd00:6c68:0:k::1:j, so that it moves no
host. Hosts without a router are site 0. A host that forwards is a router here. The switches of an Ethernet
segment are one site; interfaces at them, also those of hosts that forward, have addresses of this site.
IPv4 addresses of sites beyond 254 follow one another in 10.255.0.0/16.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

_SITES = 254
_IPV4 = int(IPv4Address("10.0.0.0"))
_IPV6 = int(IPv6Address("fd00:6c68::"))


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one node."""

    ipv4: IPv4Address
    ipv6: IPv6Address


def is_of_site(ipv4: str | None) -> bool:
    """Whether an address shares its first 16 bits with those of its site alone."""
    return ipv4 is not None and IPv4Address(ipv4).packed[1] <= _SITES


def assign(
    routers: Sequence[bool],
    links: Iterable[tuple[int, int]],
    owners: Sequence[int | None] | None = None,
    segments: Mapping[int, int] | None = None,
) -> list[Addresses]:
    """Addresses of all nodes: which are routers, and the endpoints of the links, attachments first.

    ``owners`` has the host of each further interface. Hosts that forward count as routers, and so do
    switches: ``segments`` has the first switch of the segment of each switch, and of each host or interface
    at one.

    A host belongs to the router at the other end of its first link to one.
    """
    owner_of = {node: owner for node, owner in enumerate(owners or ()) if owner is not None}
    segments = segments or {}
    home = {node: owner for node, owner in owner_of.items() if routers[owner]} | dict(segments)
    for a, b in links:
        for host, far in ((a, b), (b, a)):
            router = owner_of.get(far, far)
            if not routers[host] and routers[router]:
                home.setdefault(host, router)
    site = {
        node: number for number, node in enumerate((n for n, is_router in enumerate(routers) if is_router), 1)
    }
    placed: dict[int, int] = {}
    interfaces: dict[int, int] = {}
    found = []
    spare = 0
    for node, is_router in enumerate(routers):
        is_end = home.get(node, node) != node or not is_router
        number = site.get(home.get(node, node if is_router else -1), 0)
        if not is_end:
            place = 0xFFFF
            ipv4 = _IPV4 + (number << 16) + (255 << 8) + 254
        elif is_router or (owners and owners[node] is not None):
            order = interfaces[number] = interfaces.get(number, 0) + 1
            ipv4 = _IPV4 + (number << 16) + ((254 - (order - 1) // 254) << 8) + (order - 1) % 254 + 1
            place = (1 << 16) + order
        else:
            place = placed[number] = placed.get(number, 0) + 1
            ipv4 = _IPV4 + (number << 16) + ((place - 1) // 254 << 8) + (place - 1) % 254 + 1
        if number > _SITES:
            ipv4 = _IPV4 + (255 << 16) + (spare // 254 << 8) + spare % 254 + 1
            spare += 1
        found.append(Addresses(IPv4Address(ipv4), IPv6Address(_IPV6 + (number << 64) + place)))
    return found
