"""Addresses, networks and ports as a scenario writes them."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from longhaul.diagnostics import Code, printable
from longhaul.scenario.model.base import OneOrList, problem

AnyAddress = IPv4Address | IPv6Address
AnyNetwork = IPv4Network | IPv6Network

_PORTS = "a port is a whole number from 0 to 65535; 0 takes any that is free"


@dataclass(frozen=True)
class Endpoint:
    """A host, by name or address, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """As it is written: ``n21:5201``, ``[::1]:80``."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Listening:
    """Where something comes in: a port, and the address if it is not the gateway's."""

    address: AnyAddress | None
    port: int


def endpoint_text(address: AnyAddress, port: int) -> str:
    """``127.1.0.1:1080``, ``[::1]:1080``."""
    return str(Endpoint(str(address), port))


def _shown(value: object) -> str:
    return f'"{printable(str(value))}"' if not isinstance(value, dict | list) else "this"


def parse_address(value: object) -> AnyAddress:
    """The IP address that ``value`` spells; raises a problem."""
    try:
        return ip_address(value if isinstance(value, str) else "")
    except ValueError:
        raise problem(
            Code.ADDRESS_MALFORMED,
            f"{_shown(value)} is not an IP address",
            "write for example 127.1.0.1 or fd00:1::1",
        ) from None


def parse_network(value: object) -> AnyNetwork:
    """The network that ``value`` spells, or that of one address; raises a problem."""
    text = value if isinstance(value, str) else ""
    try:
        return ip_network(text)
    except ValueError:
        try:
            meant = f'write "{ip_network(text, strict=False)}"'
        except ValueError:
            meant = "write for example 127.1.0.0/24, fd00:1::/64 or 10.0.0.7"
        raise problem(Code.ADDRESS_MALFORMED, f"{_shown(value)} is not a network", meant) from None


def parse_endpoint(value: object) -> Endpoint:
    """``HOST:PORT`` or ``[IPV6]:PORT``; raises a problem."""
    host, colon, port = (value if isinstance(value, str) else "").rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    inner_colon = ":" in host and not str(value).startswith("[")
    if not colon or not host or inner_colon or not port.isdecimal() or not int(port[:6]) <= 65_535:
        raise problem(
            Code.ADDRESS_MALFORMED,
            f"{_shown(value)} is not HOST:PORT",
            "write for example n21:5201 or [fd00:1::1]:80",
        )
    return Endpoint(host, int(port))


def parse_listening(value: object) -> Listening:
    """A port, or ``ADDRESS:PORT``; raises a problem."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value <= 65_535:
            raise problem(Code.ADDRESS_MALFORMED, f"{value} is not a port", _PORTS)
        return Listening(None, value)
    if isinstance(value, str) and value.isdecimal() and int(value[:6]) <= 65_535:
        return Listening(None, int(value))
    if not isinstance(value, str) or ":" not in value:
        raise problem(
            Code.ADDRESS_MALFORMED, f"{_shown(value)} is not a port", f"{_PORTS}; or write ADDRESS:PORT"
        )
    endpoint = parse_endpoint(value)
    return Listening(parse_address(endpoint.host), endpoint.port)


_PORT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 65_535}

Address = Annotated[AnyAddress, PlainValidator(parse_address), WithJsonSchema({"type": "string"})]
_Network = Annotated[AnyNetwork, PlainValidator(parse_network), WithJsonSchema({"type": "string"})]
Networks = Annotated[tuple[_Network, ...], OneOrList(), Field(strict=False)]
Target = Annotated[Endpoint, PlainValidator(parse_endpoint), WithJsonSchema({"type": "string"})]
Listen = Annotated[
    Listening,
    PlainValidator(parse_listening),
    WithJsonSchema({"anyOf": [_PORT_SCHEMA, {"type": "string"}]}),
]


def read_port(value: Any) -> Any:
    """A port alone; raises a problem."""
    listening = parse_listening(value)
    if listening.address is not None:
        raise problem(
            Code.ADDRESS_MALFORMED,
            f"{_shown(value)} is not a port",
            "write the port alone: it opens at every gateway",
        )
    return listening.port


Port = Annotated[int, PlainValidator(read_port), WithJsonSchema(_PORT_SCHEMA)]
