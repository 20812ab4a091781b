"""Ports: what is at a host's end of its links in a live run, in place of a namespace of the run's own."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from longhaul.diagnostics import Code, printable
from longhaul.scenario.model.address import Address, AnyAddress, AnyNetwork, parse_address, parse_network
from longhaul.scenario.model.base import AlsoText, OneOrList, Strict, Word, problem
from longhaul.scenario.model.chosen import Chosen
from longhaul.scenario.syntax.problems import did_you_mean

ENGINES = ("docker", "podman", "k8s")
"""Programs that run containers, as ``container: ENGINE:NAME`` names them."""
_KINDS = ("netns", "container", "nic", "tap")
_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,252}(/[A-Za-z0-9][A-Za-z0-9_.-]{0,252})?")
_SHORT = "^(netns|docker|podman|k8s|nic|tap):.+$"
_EXAMPLE = "write for example podman:web, {netns: blue} or {nic: eth1, subnets: ...}"


def _device(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"[!-~]{1,15}", value) or set(value) & set("/:%"):
        message = f'"{printable(str(value))}" does not name an interface'
        raise problem(Code.NAME_INVALID, message, "write for example eth1")
    return value


Device = Annotated[str, BeforeValidator(_device), Field(examples=["eth1"])]
"""The name of a network interface of Linux."""
Devices = Annotated[tuple[Device, ...], OneOrList(), Field(strict=False, min_length=1)]
Addresses = Annotated[tuple[Address, ...], OneOrList(), Field(strict=False, min_length=1, max_length=2)]


def _one_of_each_family(addresses: tuple[AnyAddress, ...], key: str) -> None:
    if len({each.version for each in addresses}) != len(addresses):
        raise problem(
            Code.ADDRESS_CONFLICT,
            f'"{key}" has two addresses of one family',
            "write one IPv4 and one IPv6 address",
            at=key,
        )


class _Namespace(Strict):
    """What ports have in common whose interfaces are inside a network namespace that exists."""

    interface: Devices = ()
    """Names of the interfaces there, one for each link of the host; the first free ones of eth0, eth1 ..."""
    address: Addresses = ()
    """Addresses of the first interface: one of IPv4, one of IPv6; assigned if left out."""
    default_route: bool | None = None
    """Whether all packets without another route leave by it; if left out, where there is no default route."""

    @model_validator(mode="after")
    def _addresses(self) -> "_Namespace":
        _one_of_each_family(self.address, "address")
        return self


class NetnsPort(_Namespace):
    """Interfaces inside a network namespace: one of ``ip netns``, or that of a process."""

    netns: Annotated[Word, StringConstraints(pattern=r"^[^/\x00]{1,255}$"), Field(examples=["blue"])]
    """Its name, or the process ID."""

    @property
    def place(self) -> str:
        """In messages."""
        return f"netns:{self.netns}"


def _container(value: Any) -> Any:
    engine, colon, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    if not colon or engine not in ENGINES:
        message = f'"{printable(str(value))}" does not name a container'
        raise problem(Code.PORT_INVALID, message, "write docker:NAME, podman:NAME or k8s:POD")
    if not _CONTAINER.fullmatch(name) or ("/" in name and engine != "k8s"):
        raise problem(
            Code.NAME_INVALID, f'"{printable(name)}" is not the name of a container', "write its name or ID"
        )
    return value


class ContainerPort(_Namespace):
    """Interfaces inside a container that runs."""

    container: Annotated[
        str,
        BeforeValidator(_container),
        WithJsonSchema({"type": "string", "pattern": "^(docker|podman|k8s):.+$"}),
        Field(examples=["podman:web"]),
    ]

    @property
    def place(self) -> str:
        """In messages."""
        return self.container


@dataclass(frozen=True)
class BehindSubnet:
    """A network behind a device, and the router that leads to it, if it is not on the segment."""

    network: AnyNetwork
    via: AnyAddress | None = None


def _subnet(value: Any) -> BehindSubnet:
    words = value.split() if isinstance(value, str) else []
    if len(words) == 3 and words[1] == "via":
        network, via = parse_network(words[0]), parse_address(words[2])
        if network.version != via.version:
            raise problem(
                Code.ADDRESS_CONFLICT,
                f"{via} is not of the family of {network}",
                "name a router of its family",
            )
        return BehindSubnet(network, via)
    return BehindSubnet(parse_network(value))


Subnet = Annotated[BehindSubnet, PlainValidator(_subnet), WithJsonSchema({"type": "string"})]


class _Device(Strict):
    """What ports have in common behind which there are hosts that know nothing of the run."""

    may_learn: ClassVar[bool] = False
    """Whether a live run learns the networks behind it where the scenario lists none."""
    mode: Literal["routed", "bridge"] = "routed"
    """``routed``: a gateway of the hosts behind it; ``bridge``: all frames pass, unchanged."""
    subnets: Annotated[tuple[Subnet, ...], OneOrList(), Field(strict=False, min_length=1)] = ()
    """Networks behind it: those of the segment, and others as "10.20.0.0/16 via 192.168.1.254".

    A live run learns those behind a ``nic`` from its machine's addresses and routes if left out.
    """
    gateway: Addresses = ()
    """Addresses that its hosts have as their gateway; the first of the segment's networks if left out."""

    @property
    def gateways(self) -> tuple[AnyAddress, ...]:
        """One address for each family of networks on the segment."""
        given = {each.version: each for each in self.gateway}
        for subnet in self.subnets:
            if subnet.via is None and subnet.network.num_addresses > 2:
                given.setdefault(subnet.network.version, subnet.network[1])
        return tuple(given[version] for version in sorted(given))

    @model_validator(mode="after")
    def _reachable(self) -> "_Device":
        if self.mode == "bridge":
            for key in ("subnets", "gateway"):
                if getattr(self, key):
                    raise problem(
                        Code.KEYS_CONFLICT,
                        f'has "{key}", and a bridge has no addresses',
                        f"remove {key}, or mode: bridge",
                        at=key,
                    )
            return self
        if self.may_learn and not self.subnets and not self.gateway:
            return self
        if not self.subnets:
            raise problem(
                Code.KEY_MISSING, 'has no "subnets"', "write the networks behind it, or mode: bridge"
            )
        _one_of_each_family(self.gateway, "gateway")
        segment = [each.network for each in self.subnets if each.via is None]
        for address in (*self.gateway, *(each.via for each in self.subnets if each.via is not None)):
            if not any(address in network for network in segment):
                raise problem(
                    Code.PORT_INVALID,
                    f"{address} is in no network of the segment",
                    "add its network to subnets",
                    at="gateway" if address in self.gateway else "subnets",
                )
        for version in sorted({each.network.version for each in self.subnets}):
            if all(each.version != version for each in self.gateways):
                raise problem(
                    Code.PORT_INVALID,
                    f"has no gateway for IPv{version}",
                    "write gateway: ADDRESS",
                    at="subnets",
                )
        return self


class NicPort(_Device):
    """An Ethernet device of this machine, with a cluster behind it."""

    may_learn: ClassVar[bool] = True
    nic: Device
    force: bool = False
    """Whether it may carry the default route of this machine, or the connection of this session."""

    @property
    def device(self) -> str:
        """The interface."""
        return self.nic

    @property
    def place(self) -> str:
        """In messages."""
        return f"nic:{self.nic}"


class TapPort(_Device):
    """A TAP device of this machine, with a virtual machine behind it."""

    tap: Device

    @property
    def device(self) -> str:
        """The interface."""
        return self.tap

    @property
    def place(self) -> str:
        """In messages."""
        return f"tap:{self.tap}"


def _kind(value: Any) -> str:
    return next((kind for kind in _KINDS if kind in value), _KINDS[0])


def _port(value: Any) -> Any:
    if isinstance(value, str):
        kind, colon, name = value.partition(":")
        if kind in ENGINES and colon:
            return {"container": value}
        if kind not in _KINDS or kind == "container" or not name:
            remedy = did_you_mean(kind, (*ENGINES, *_KINDS)) if colon else _EXAMPLE
            raise problem(Code.PORT_INVALID, f'"{printable(value)}" is not a port', remedy)
        return {kind: name}
    if not isinstance(value, dict):
        raise problem(Code.PORT_INVALID, "is not a port", _EXAMPLE)
    given = [kind for kind in _KINDS if kind in value]
    if not given:
        raise problem(Code.KEY_MISSING, f"has none of {', '.join(_KINDS)}", _EXAMPLE)
    if len(given) > 1:
        raise problem(Code.KEYS_CONFLICT, f"has {given[0]} and {given[1]}", "write one of them")
    return value


Port = Annotated[
    NetnsPort | ContainerPort | NicPort | TapPort,
    Chosen(_kind, {"netns": NetnsPort, "container": ContainerPort, "nic": NicPort, "tap": TapPort}),
    BeforeValidator(_port),
    AlsoText(_SHORT, "podman:web", "netns:blue"),
]
NamespacePort = NetnsPort | ContainerPort
DevicePort = NicPort | TapPort
