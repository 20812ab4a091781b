"""Network interfaces of this machine: what of one speaks against a run that takes all of its packets."""

import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.problems import did_you_mean

INTERFACES = Path("/sys/class/net")
_ETHERNET = 1
"""``ARPHRD_ETHER`` (linux/if_arp.h)."""
_IFF_UP = 1
_IFF_TAP = 2
"""Of linux/if_tun.h."""


@dataclass(frozen=True)
class Device:
    """An interface that a run wants for itself."""

    name: str
    is_tap: bool
    force: bool
    """Whether it may carry the default route of this machine, or the connection of this session."""


def require_device(device: Device, mtu: int, *, peers: Sequence[str] = ()) -> None:
    """Raise LonghaulError if a run may not use ``device`` for packets of ``mtu`` bytes.

    ``peers`` are addresses of other machines of the run, which are reached by another interface.
    """
    name = device.name
    place = INTERFACES / name
    if not place.exists():
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, f'there is no network interface "{name}"', remedy=_remedy(device)
        )
    kind = _read(place / "type")
    if kind != str(_ETHERNET) or name == "lo":
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, f"{name} is not an Ethernet interface", remedy="name one that is"
        )
    if device.is_tap and not int(_read(place / "tun_flags") or "0", 16) & _IFF_TAP:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, f"{name} is not a TAP device", remedy=f"write port: {{nic: {name}, ...}}"
        )
    if not int(_read(place / "flags") or "0", 16) & _IFF_UP:
        raise LonghaulError(Code.PORT_UNAVAILABLE, f"{name} is down", remedy=f"sudo ip link set {name} up")
    if (place / "master").exists():
        master = os.path.basename(os.path.realpath(place / "master"))
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"{name} belongs to {master}, which takes its packets",
            remedy=f"sudo ip link set {name} nomaster",
        )
    largest = int(_read(place / "mtu") or "0")
    if largest < mtu:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"{name} carries packets of {largest} bytes, and its link {mtu}",
            remedy=f"sudo ip link set {name} mtu {mtu}, or write mtu: {largest} at the link",
        )
    _require_free(name)
    _require_apart(name, peers)
    if not device.force:
        _require_expendable(name)


def _remedy(device: Device) -> str:
    if device.is_tap:
        return f"sudo ip tuntap add dev {device.name} mode tap && sudo ip link set {device.name} up"
    names = [each.name for each in INTERFACES.iterdir() if each.name != "lo"] if INTERFACES.exists() else []
    return did_you_mean(device.name, sorted(names)) if names else "this machine has none but lo"


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _require_free(name: str) -> None:
    """Raise LonghaulError if another run uses the interface: it listens at an abstract name of it."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.connect(f"\0longhaul-device-{socket.if_nametoindex(name)}")
    except OSError:
        return
    raise LonghaulError(
        Code.PORT_UNAVAILABLE,
        f"{name} is in use by another run",
        remedy="longhaul status lists runs that are up",
    )


def _require_apart(name: str, peers: Sequence[str]) -> None:
    """Raise LonghaulError if other machines of the run are reached by the interface."""
    met = next((each for each in peers if interface_to(ip_address(each)) == name), None)
    if met is not None:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"{name} carries the packets of the run to the machine at {met}",
            remedy="use another interface, or write address=ADDRESS of another network in the hostfile",
        )


def _require_expendable(name: str) -> None:
    """Raise LonghaulError if this machine itself is reached by the interface."""
    remedy = "use another interface, or write force: true beside nic if you reach this machine otherwise"
    client = _ssh_connection().split(" ")[0].partition("%")[0]
    if client:
        try:
            address = ip_address(client)
        except ValueError:
            pass
        else:
            mapped = getattr(address, "ipv4_mapped", None)
            if interface_to(mapped or address) == name:
                raise LonghaulError(
                    Code.PORT_UNAVAILABLE, f"{name} carries the ssh connection of this session", remedy=remedy
                )
    if any(interface_to(each) == name for each in _ELSEWHERE):
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, f"{name} carries the default route of this machine", remedy=remedy
        )


def _ssh_connection() -> str:
    """What sshd says of the session; behind sudo, the environments of this process's parents have it."""
    if found := os.environ.get("SSH_CONNECTION"):
        return found
    pid = os.getppid()
    while pid > 1:
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            break
        for each in environment:
            if each.startswith(b"SSH_CONNECTION="):
                return os.fsdecode(each.partition(b"=")[2])
    return ""


_ELSEWHERE = (IPv4Address("192.0.2.1"), IPv6Address("2001:db8::1"))
"""Addresses of documentation (RFC 5737, RFC 3849), which only a default route leads to."""


def interface_to(address: IPv4Address | IPv6Address) -> str | None:
    """The interface by which the main routing table sends to ``address``."""
    fitting = (
        (bits, -metric, name)
        for network, bits, metric, name in (_routes4() if address.version == 4 else _routes6())
        if int(address) >> (address.max_prefixlen - bits) == network >> (address.max_prefixlen - bits)
    )
    best = max(fitting, default=None)
    return best[2] if best is not None else None


def _routes4() -> Iterator[tuple[int, int, int, str]]:
    """Network, bits, metric and interface of each IPv4 route that is up."""
    for line in (_read(Path("/proc/self/net/route")) or "").splitlines()[1:]:
        fields = line.split()
        if int(fields[3], 16) & 1:
            network, mask = (int.from_bytes(bytes.fromhex(fields[at]), "little") for at in (1, 7))
            yield network, mask.bit_count(), int(fields[6]), fields[0]


def _routes6() -> Iterator[tuple[int, int, int, str]]:
    """The same of IPv6."""
    for line in (_read(Path("/proc/self/net/ipv6_route")) or "").splitlines():
        fields = line.split()
        if int(fields[8], 16) & 1 and fields[9] != "lo":
            yield int(fields[0], 16), int(fields[1], 16), int(fields[5], 16), fields[9]
