"""Hosts and routers."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import (
    AlsoBoolean,
    AlsoText,
    Count,
    HostName,
    InterfaceName,
    Name,
    Number,
    OneOrList,
    Strict,
    Text,
    problem,
)
from longhaul.scenario.model.host_settings import (
    LEAST_MEMORY,
    Capability,
    HostFiles,
    HostImage,
    HostMemory,
    HostnameText,
    HostUser,
)
from longhaul.scenario.model.pacing import Pacing
from longhaul.scenario.model.port import DevicePort, Port
from longhaul.units.quantities import Rate, Size, Span


def _buffers(value: Any) -> Any:
    return None if value == "auto" else Size.parse(value)


def _sysctl(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"net(\.[A-Za-z0-9_-]+){2,5}", value):
        message = f'"{value}" is not a network sysctl'
        raise problem(Code.SYSCTL_INVALID, message, "write for example net.ipv4.tcp_recovery")
    return value


def _sysctl_value(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str) or "\n" in str(value):
        raise problem(
            Code.SYSCTL_INVALID, "is not a value of a kernel parameter", "write a number or words in quotes"
        )
    return str(value)


Sysctl = Annotated[str, BeforeValidator(_sysctl)]


MptcpFlag = Literal["signal", "subflow", "backup", "fullmesh"]


class Mptcp(Strict):
    """What the path manager of Multipath TCP may do, in the words of ``ip-mptcp(8)``."""

    subflows: Annotated[int, Count(at_least=0, at_most=8)] = 8
    """Of a connection, beside its first."""
    add_addr_accepted: Annotated[int, Count(at_least=0, at_most=8)] = 8
    """Addresses that are taken of those that a connection's peer announces."""
    endpoints: (
        dict[InterfaceName, Annotated[tuple[MptcpFlag, ...], OneOrList(), Field(strict=False, min_length=1)]]
        | None
    ) = None
    """How connections use the addresses of interfaces; if left out, all but the first one are ``subflow``."""


def _mptcp(value: Any) -> Any:
    if value is False:
        return {"subflows": 0, "add_addr_accepted": 0, "endpoints": {}}
    return {} if value is True else value


class Tcp(Strict):
    """How TCP is set up in hosts."""

    congestion_control: Name | None = None
    buffers: Annotated[Size | None, BeforeValidator(_buffers), AlsoText("^auto$", "auto")] = None
    """Largest socket buffer; ``auto`` sizes it from the host's largest BDP."""
    recovery: Literal["tahoe", "reno", "newreno", "sack", "sack-adaptive", "rack"] | None = None
    """How losses are found and repaired; live: newreno, sack or rack."""
    ecn: bool | None = None
    """Explicit congestion notification."""
    initial_window: Annotated[int, Count(at_least=1, at_most=10_000)] | None = None
    """First windows, to send and to receive, in segments."""
    mptcp: Annotated[Mptcp | None, BeforeValidator(_mptcp), AlsoBoolean()] = None
    """Multipath TCP of hosts with several links; ``false``: connections have one path."""
    delayed_ack: bool | None = None
    """Simulated only, as are those that follow."""
    pacing: Literal["dynamic"] | bool | None = None
    """Whether segments are spread over the round trip, whatever the algorithm: with Linux's gains, or
    ``dynamic``, as PSPacer does, no faster than one window per round trip."""
    min_rto: Span | None = None
    sysctls: dict[Sysctl, Annotated[str, BeforeValidator(_sysctl_value)]] = Field(default_factory=dict)
    """Kernel parameters of the host's network namespace, such as ``net.ipv4.tcp_recovery``."""


HOST_FUNCTIONS = ("client", "source", "sink")
SETTINGS = (
    "hostname",
    "files",
    "cpu",
    "memory",
    "rootfs",
    "image",
    "keep_files",
    "pid_namespace",
    "user",
    "capabilities",
)
"""Keys about what programs of a host find there in a live run."""
ROUTER_FUNCTIONS = ("router", "access-link", "core")


class Node(Strict):
    """A host, where programs run, or a router or an Ethernet switch of the model."""

    later: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("ipv4", "ipv6", "address"), "addresses are assigned; longhaul show prints them"
    )
    kind: Annotated[Literal["host", "router", "switch"], Field(examples=["host"])]
    function: Literal["client", "source", "sink", "router", "access-link", "core"] | None = None
    """What it is there for, shown and drawn: a host is a client, a router a router if left out."""
    attach: HostName | None = None
    """The router or switch that a host hangs on, or a host that forwards."""
    profile: Name | None = None
    """The profile of that attachment."""
    at: Annotated[tuple[float, float], Field(strict=False)] | None = None
    """Latitude and longitude in degrees, for maps."""
    place: HostnameText | None = None
    """The machine that runs it, in a run on several (``longhaul run --on``): its name in the hostfile. Nodes
    without one are where their neighbours are."""
    tcp: Tcp | None = None
    pacing: Pacing | None = None
    """How the host spaces what it sends."""
    line_rate: Rate | None = None
    """Line rate of the host's network cards on the virtual clock: they return buffers at that rate, so that
    TCP small queues limit what a connection has in the host. Unlimited if left out."""
    forward: bool = False
    """Whether a host forwards packets between its interfaces, as a router does."""
    routing: Literal["static", "none"] | None = None
    """Routes of a host that forwards: to every node by the shortest path, or only to its neighbours, for a
    routing daemon to add others."""
    port: Port | None = None
    """What is at the host's end of its links in a live run, in place of a namespace of the run's own."""
    hostname: HostnameText | None = None
    """The host name of its programs; the node's name if left out. Live only, as are those that follow."""
    files: HostFiles = Field(default_factory=dict)
    """Files that the host has in place of the machine's, or beside them: ``{/etc/x.conf: ./x.conf}``."""
    cpu: Annotated[float, Number(at_least=0.01, at_most=4096, example="0.5")] | None = None
    """CPU time that its programs may use together, in CPUs."""
    memory: HostMemory | None = None
    """Memory that its programs may use together; the kernel kills those that need more."""
    rootfs: Text | None = None
    """A directory that is the root directory of its programs, and is not changed."""
    image: HostImage | None = None
    """An image that is this root directory: of podman's store, ``docker-daemon:NAME``, or ``oci:DIR``. Its
    environment, working directory and user hold for the host's programs."""
    keep_files: bool = False
    """Whether the run directory keeps what the programs write in ``rootfs`` or ``image``."""
    pid_namespace: bool = False
    """Whether the host has its own PID namespace: its programs see and signal only each other."""
    user: HostUser | None = None
    """The user of its programs: a name that the host knows, or a number; root of the run if left out."""
    capabilities: Annotated[tuple[Capability, ...], Field(strict=False)] | None = None
    """Capabilities that its programs may have; those that ``isolation`` leaves if left out."""

    @field_validator("at", mode="before")
    @classmethod
    def _coordinates(cls, value: Any) -> Any:
        good = (
            isinstance(value, list) and len(value) == 2 and not any(isinstance(v, bool | str) for v in value)
        )
        try:
            latitude, longitude = (float(each) for each in value) if good else (1e9, 1e9)
        except (TypeError, ValueError, OverflowError):
            latitude = longitude = 1e9
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
            raise problem(
                Code.WRONG_TYPE,
                "must be latitude and longitude in degrees",
                'write for example "[48.85, 2.35]"',
            )
        return (latitude, longitude)

    @model_validator(mode="after")
    def _attachment(self) -> "Node":
        if self.kind != "host" and (self.attach or self.profile):
            what = "routers" if self.kind == "router" else "switches"
            raise problem(Code.KEY_OUT_OF_PLACE, "only hosts are attached", f"join {what} under links")
        if self.kind != "host" and self.tcp:
            raise problem(
                Code.KEY_OUT_OF_PLACE, f"a {self.kind} has no TCP", "set tcp on hosts, or for all at the top"
            )
        if self.kind != "host" and self.port:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                f"a {self.kind} is part of the model and has no port",
                "attach a host to it that has the port",
                at="port",
            )
        for key in SETTINGS:
            if key not in self.model_fields_set:
                continue
            if self.kind != "host":
                message, remedy = f"a {self.kind} of the model runs no programs", "write it at a host"
                raise problem(Code.KEY_OUT_OF_PLACE, message, remedy, at=key)
            if isinstance(self.port, DevicePort):
                message = f"no programs of the run are behind {self.port.place}"
                raise problem(Code.KEY_OUT_OF_PLACE, message, "set it up there", at=key)
        if self.memory is not None and self.memory.bytes < LEAST_MEMORY.bytes:
            message = f"is less than {LEAST_MEMORY}, which a program needs to start"
            raise problem(Code.OUT_OF_RANGE, message, "write for example 64MiB", at="memory")
        if self.rootfs is not None and self.image is not None:
            raise problem(Code.KEYS_CONFLICT, "has a rootfs and an image", "write one of them", at="image")
        if self.keep_files and self.rootfs is None and self.image is None:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                "what a host writes is kept over a root of its own only",
                "write rootfs or image, too",
                at="keep_files",
            )
        if self.kind != "host" and self.pacing:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                f"a {self.kind} does not pace",
                "write rate: {paced: ...} at its links",
                at="pacing",
            )
        if self.kind != "host" and self.line_rate:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                f"a {self.kind} of the model has no network cards",
                "write rate at its links",
                at="line_rate",
            )
        if self.kind != "host" and self.forward:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                f"a {self.kind} of the model always forwards",
                "leave it out, or write kind: host",
                at="forward",
            )
        if self.forward and self.port is not None:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                "what is at a port forwards by its own kernel",
                "leave it out, and set it up there",
                at="forward",
            )
        if self.routing and not self.forward:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                "only a host that forwards chooses its routing",
                "write forward: true, too",
                at="routing",
            )
        mine: tuple[str, ...] = HOST_FUNCTIONS if self.kind == "host" else ROUTER_FUNCTIONS
        if self.kind == "switch" and self.function is not None:
            raise problem(Code.KEY_OUT_OF_PLACE, "a switch has one function", "leave it out", at="function")
        if self.forward:
            mine = (*HOST_FUNCTIONS, *ROUTER_FUNCTIONS)
        if self.function is not None and self.function not in mine:
            message = f'a {self.kind} has no function "{self.function}"'
            raise problem(Code.CHOICE_UNKNOWN, message, f"there are: {', '.join(mine)}", at="function")
        if self.profile and not self.attach:
            raise problem(
                Code.KEY_MISSING, 'has a profile, but no "attach"', "name the router that it is attached to"
            )
        return self
