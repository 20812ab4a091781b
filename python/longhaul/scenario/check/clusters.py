"""Sub-clusters of a relay: their addresses, and conflicts between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code
from longhaul.scenario.model import Document
from longhaul.scenario.model.address import AnyAddress, AnyNetwork, endpoint_text
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.ranges import RangeError, expand
from longhaul.scenario.syntax.yaml_tree import Path

if TYPE_CHECKING:
    from longhaul.scenario.model import Forward, Relay


@dataclass(frozen=True)
class Group:
    """A cluster with every default filled in."""

    name: str
    site: str
    gateway: AnyAddress | None
    machines: tuple[AnyNetwork, ...]
    names: Mapping[str, AnyAddress]

    @property
    def members(self) -> tuple[AnyNetwork, ...]:
        """The networks of its machines, and each named address that lies in none of them."""
        apart = dict.fromkeys(
            ip_network(each)
            for each in self.names.values()
            if not any(_holds(network, each) for network in self.machines)
        )
        return (*self.machines, *apart)


@dataclass(frozen=True)
class Wrong:
    """Something wrong with section ``relay``."""

    code: Code
    path: Path
    message: str
    remedy: str


@dataclass(frozen=True)
class Opening:
    """A place where a gateway listens, and the part of the scenario that says so."""

    gateway: int
    """The cluster whose gateway it is."""
    address: str
    udp: bool
    path: Path


class AddressError(ValueError):
    """A range of names that its addresses do not suffice for."""


def groups(relay: Relay) -> list[Group]:
    """The clusters of a section that has been checked."""
    return [
        Group(name, each.site or name, each.gateway, each.machines, named_addresses(each.names))
        for name, each in relay.clusters.items()
    ]


def named_addresses(names: Mapping[str, AnyAddress]) -> dict[str, AnyAddress]:
    """The address of each name, ranges expanded. Raises RangeError and :class:`AddressError`."""
    found: dict[str, AnyAddress] = {}
    for text, first in names.items():
        every = expand(text)
        if int(first) + len(every) > 1 << first.max_prefixlen:
            raise AddressError(f"there are not {len(every)} addresses from {first} on")
        found |= {name: first + position for position, name in enumerate(every)}
    return found


def home_of(address: AnyAddress, clusters: Sequence[Group]) -> int | None:
    """The cluster of an address: the one whose network has the longest prefix; ``None``: no one's."""
    holding = [
        (network.prefixlen, -position)
        for position, cluster in enumerate(clusters)
        for network in cluster.members
        if _holds(network, address)
    ]
    return -max(holding)[1] if holding else None


def target_of(forward: Forward, clusters: Sequence[Group]) -> tuple[AnyAddress, int | None] | None:
    """Where a forward leads: the address and its cluster; ``None`` if the name is not known."""
    named = next((each.names[forward.to.host] for each in clusters if forward.to.host in each.names), None)
    try:
        address = named or ip_address(forward.to.host)
    except ValueError:
        return None
    if forward.into is not None:
        return address, next(n for n, each in enumerate(clusters) if each.name == forward.into)
    return address, home_of(address, clusters)


def openings(relay: Relay, clusters: Sequence[Group]) -> Iterator[Opening]:
    """Where the gateways listen, but for transparent connections; one for each address of SOCKS."""
    seen = set()
    for position, cluster in enumerate(clusters):
        if cluster.gateway is None:
            continue
        if relay.socks is not None and cluster.gateway not in seen:
            seen.add(cluster.gateway)
            path: Path = ("relay", "socks")
            yield Opening(position, endpoint_text(cluster.gateway, relay.socks), False, path)
        if relay.gateways == "chained":
            for other in range(len(clusters)):
                if other != position:
                    address = endpoint_text(cluster.gateway, chain_port(relay, other))
                    yield Opening(position, address, False, ("relay", "gateways"))
    names = [each.name for each in clusters]
    for number, forward in enumerate(relay.forwards):
        position = names.index(forward.source)
        at = listens_at(forward, clusters)
        path = ("relay", "forwards", number, "listen")
        if at is not None:
            yield Opening(position, endpoint_text(at, forward.listen.port), forward.protocol == "udp", path)


def listens_at(forward: Forward, clusters: Sequence[Group]) -> AnyAddress | None:
    """The address at which a forward listens; ``None``: it has none, nor has its cluster's gateway."""
    return forward.listen.address or next(each.gateway for each in clusters if each.name == forward.source)


def chain_port(relay: Relay, other: int) -> int:
    """Where a chained gateway waits for the gateway of cluster ``other``."""
    return relay.chain + other


def check_relay(document: Document, nodes: Mapping[str, str]) -> Iterator[Wrong]:
    """What is wrong with names and addresses of section ``relay``; ``nodes`` have their kinds."""
    relay = document.relay
    if relay is None:
        return
    found = [*_sites(relay, nodes), *_names(relay)]
    yield from found
    if found:
        return
    clusters = groups(relay)
    yield from _networks(relay, clusters)
    found = list(_forwards(relay, clusters))
    yield from found or _openings(relay, clusters)


def _sites(relay: Relay, nodes: Mapping[str, str]) -> Iterator[Wrong]:
    routers = [name for name, kind in nodes.items() if kind == "router"]
    for name, cluster in relay.clusters.items():
        path: Path = ("relay", "clusters", name)
        site = cluster.site or name
        if site in routers:
            continue
        what = (
            f'"{site}" is a {nodes[site]}, not a router' if site in nodes else f'there is no router "{site}"'
        )
        remedy = did_you_mean(site, routers) if cluster.site else "add site: ROUTER, where the cluster stands"
        code = Code.NODE_KIND if site in nodes else Code.NODE_UNKNOWN
        yield Wrong(code, (*path, "site") if cluster.site else path, what, remedy)


def _names(relay: Relay) -> Iterator[Wrong]:
    owner: dict[str, str] = {}
    for cluster, each in relay.clusters.items():
        for text, first in each.names.items():
            path: Path = ("relay", "clusters", cluster, "names", text)
            try:
                names = named_addresses({text: first})
            except RangeError as error:
                yield Wrong(error.code, path, error.message, error.remedy)
                continue
            except AddressError as error:
                yield Wrong(
                    Code.ADDRESS_MALFORMED, path, str(error), "begin at a lower address, or name fewer"
                )
                continue
            double = next((name for name in names if name in owner), None)
            if double is not None:
                yield Wrong(
                    Code.ADDRESS_CONFLICT, path, f'"{double}" has an address already', "give each name one"
                )
            owner |= dict.fromkeys(names, cluster)


def _networks(relay: Relay, clusters: Sequence[Group]) -> Iterator[Wrong]:
    owner: dict[AnyNetwork, str] = {}
    nameless = [replace(each, names={}) for each in clusters]
    for cluster in clusters:
        path: Path = ("relay", "clusters", cluster.name)
        for number, network in enumerate(cluster.machines):
            if network in owner:
                what = f'{network} belongs to cluster "{owner[network]}" already'
                yield Wrong(
                    Code.ADDRESS_CONFLICT, (*path, "machines", number), what, "remove it from one of them"
                )
            owner[network] = cluster.name
        for text, first in relay.clusters[cluster.name].names.items():
            for address in named_addresses({text: first}).values():
                home = home_of(address, nameless)
                if home is not None and clusters[home].name != cluster.name:
                    what = f'{address} belongs to cluster "{clusters[home].name}"'
                    yield Wrong(
                        Code.ADDRESS_CONFLICT,
                        (*path, "names", text),
                        what,
                        "name it there, or correct the address",
                    )
                    break


def _forwards(relay: Relay, clusters: Sequence[Group]) -> Iterator[Wrong]:
    names = [each.name for each in clusters]
    for number, forward in enumerate(relay.forwards):
        path: Path = ("relay", "forwards", number)
        unknown = [
            (key, name)
            for key, name in (("from", forward.source), ("into", forward.into))
            if name is not None and name not in names
        ]
        for key, name in unknown:
            yield Wrong(
                Code.CLUSTER_UNKNOWN, (*path, key), f'there is no cluster "{name}"', did_you_mean(name, names)
            )
        if unknown:
            continue
        if listens_at(forward, clusters) is None:
            what = f'cluster "{forward.source}" has no gateway to listen on'
            yield Wrong(Code.GATEWAY_MISSING, (*path, "listen"), what, f"write ADDRESS:{forward.listen.port}")
        target = target_of(forward, clusters)
        if target is None:
            known = [name for each in clusters for name in each.names]
            remedy = did_you_mean(forward.to.host, known) if known else "write its address"
            yield Wrong(Code.FORWARD_INVALID, (*path, "to"), f'no cluster names "{forward.to.host}"', remedy)
            continue
        address, home = target
        if home is None:
            remedy = "add into: CLUSTER, or its address to the machines of one"
            yield Wrong(Code.FORWARD_INVALID, (*path, "to"), f"{address} belongs to no cluster", remedy)
        elif names[home] == forward.source:
            what = f'both ends are in cluster "{forward.source}"'
            yield Wrong(
                Code.FORWARD_INVALID, (*path, "to"), what, "connect to it directly, or name another cluster"
            )
        elif forward.protocol == "udp" and relay.gateways == "chained":
            remedy = "write gateways: together or apart"
            yield Wrong(
                Code.FORWARD_INVALID, (*path, "protocol"), "chained gateways pass on TCP alone", remedy
            )


def _openings(relay: Relay, clusters: Sequence[Group]) -> Iterator[Wrong]:
    if relay.gateways != "together":
        owner: dict[AnyAddress, str] = {}
        for cluster in clusters:
            path: Path = ("relay", "clusters", cluster.name)
            if cluster.gateway is None:
                if relay.gateways == "chained":
                    remedy = "add gateway: ADDRESS, or leave gateways: out"
                    yield Wrong(Code.GATEWAY_MISSING, path, "has no gateway", remedy)
                continue
            if cluster.gateway in owner:
                path = (*path, "gateway")
                what = f'{cluster.gateway} is the gateway of "{owner[cluster.gateway]}", too'
                yield Wrong(Code.ADDRESS_CONFLICT, path, what, "write another")
                return
            owner[cluster.gateway] = cluster.name
        if relay.gateways == "chained" and relay.chain + len(clusters) > 65_536:
            yield Wrong(
                Code.LISTENER_CONFLICT,
                ("relay", "chain"),
                "leaves too few ports for the other gateways",
                "write a lower one",
            )
            return
    if not relay.forwards and relay.transparent is None and all(each.gateway is None for each in clusters):
        yield Wrong(
            Code.GATEWAY_MISSING,
            ("relay", "socks"),
            "no cluster has a gateway to listen on",
            "add gateway: ADDRESS to one",
        )
    taken: set[tuple[str, bool]] = set()
    for opening in openings(relay, clusters):
        place = (opening.address, opening.udp)
        if place in taken and not opening.address.endswith(":0"):
            remedy = "choose another port"
            yield Wrong(
                Code.LISTENER_CONFLICT, opening.path, f"something else listens at {opening.address}", remedy
            )
        taken.add(place)


def _holds(network: AnyNetwork, address: AnyAddress) -> bool:
    return network.version == address.version and address in network
