"""One script for each machine: addresses, routes, kernel parameters and disciplines, and their removal.

The addresses are those of a run here, on every interface of their node, with a route of its own to each other
node. So programs find the names and addresses that they find in a run, and routers are hops as there.
A machine for a link is a bridge, which is not a hop.
"""

from collections.abc import Iterator
from shlex import quote
from typing import Literal

from longhaul.export.deployment import Deployment, Hop, Machine, Port
from longhaul.plan import Node

ROUTES = 199
"""What our routes are marked with (``proto``), so that they can be removed again."""
_BRIDGE = "longhaul0"
Family = Literal["ipv4", "ipv6"]
_FAMILIES: tuple[tuple[str, Family, int], ...] = (("ip", "ipv4", 32), ("ip -6", "ipv6", 128))
_OFFLOADS = "tso off gso off gro off"

_HEAD = """\
#!/bin/sh
# {name}: {role} of "{scenario}". Run as root: sh {name}.sh up, or sh {name}.sh down.
set -eu
kept=${{LONGHAUL_KEPT:-/run}}/longhaul-{name}

# Write a value of the kernel's, and keep what it was.
put() {{
  grep -qsF "$1 " "$kept" || echo "$1 $(cat "$1")" >>"$kept"
  echo "$2" >"$1"
}}
"""
_TAIL = """\
case ${1:-} in
  up) down; up ;;
  down) down ;;
  *) echo "usage: sh $0 up|down" >&2; exit 2 ;;
esac
"""


def script(deployment: Deployment, machine: Machine) -> str:
    """The script of ``machine``."""
    lines = [_HEAD.format(name=machine.name, role=machine.role, scenario=deployment.name)]
    lines += ["up() {", *(f"  {line}" for line in _up(deployment, machine)), "}", ""]
    lines += ["down() {", *(f"  {line}" for line in _down(deployment, machine)), "}", ""]
    return "\n".join(lines) + "\n" + _TAIL


def disciplines(port: Port) -> list[str]:
    """The commands of tc for one interface."""
    commands = port.shaping.commands if port.shaping else []
    return [f"tc qdisc replace dev {port.device} {command}" for command in commands]


def hosts(deployment: Deployment) -> str:
    """What belongs in /etc/hosts, so that names are those of a run."""
    return "".join(
        f"{node[family]}\t{node['name']}\n"
        for node in deployment.nodes
        for family in ("ipv4", "ipv6")
        if node[family]
    )


def _up(deployment: Deployment, machine: Machine) -> Iterator[str]:
    yield from _below_vlans(machine)
    for port in machine.ports:
        yield from _device(port)
    if machine.node is None:
        yield f"ip link add name {_BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
        yield from (f"ip link set dev {port.device} master {_BRIDGE}" for port in machine.ports)
        yield f"ip link set dev {_BRIDGE} up"
    else:
        yield from _addresses(deployment, machine, machine.node)
    for port in machine.ports:
        commands = disciplines(port)
        if commands:
            yield f"# {port.link}, {port.way}"
        yield from commands


def _below_vlans(machine: Machine) -> Iterator[str]:
    """Devices that carry VLANs: a smaller MTU than that of one of these would cut it, too."""
    largest: dict[str, int] = {}
    for port in machine.ports:
        if port.vlan:
            parent, _number = port.vlan
            largest[parent] = max(port.mtu, largest.get(parent, 1500))
    for parent, mtu in largest.items():
        if mtu > 1500:
            yield f"put /sys/class/net/{parent}/mtu {mtu}"
        yield f"ip link set dev {parent} up"


def _device(port: Port) -> Iterator[str]:
    if port.vlan:
        parent, number = port.vlan
        yield f"ip link add link {parent} name {port.device} type vlan id {number}"
        yield f"ip link set dev {port.device} mtu {port.mtu}"
    else:
        yield f"put /sys/class/net/{port.device}/mtu {port.mtu}"
    yield f"ip link set dev {port.device} up"
    # netem and the bucket would take a super-packet for one packet.
    yield f"ethtool -K {port.device} {_OFFLOADS}"


def _addresses(deployment: Deployment, machine: Machine, node: int) -> Iterator[str]:
    own = deployment.nodes[node]
    for port in machine.ports:
        for ip, family, length in _FAMILIES:
            if own[family]:
                nodad = " nodad" if family == "ipv6" else ""
                yield f"{ip} address replace {own[family]}/{length} dev {port.device}{nodad}"
        if own["ipv4"]:
            # Packets may come back another way.
            yield f"put /proc/sys/net/ipv4/conf/{port.device}/rp_filter 2"
            if own["kind"] == "router":
                yield f"put /proc/sys/net/ipv4/conf/{port.device}/forwarding 1"
    if own["kind"] == "router" and own["ipv6"]:
        yield "put /proc/sys/net/ipv6/conf/all/forwarding 1"
    for name, value in own["sysctls"].items():
        yield f"put /proc/sys/{name.replace('.', '/')} {quote(str(value))}"
    for hop in machine.hops:
        yield from _route(deployment, own, hop)


def _route(deployment: Deployment, own: Node, hop: Hop) -> Iterator[str]:
    destination, gateway = deployment.nodes[hop.destination], deployment.nodes[hop.gateway]
    for ip, family, length in _FAMILIES:
        if own[family] and destination[family]:
            via = f" via {gateway[family]}" if gateway is not destination else ""
            onlink = " onlink" if via else ""
            yield (
                f"{ip} route replace {destination[family]}/{length}{via} dev {hop.port.device}{onlink} "
                f"src {own[family]} proto {ROUTES}"
            )


def _down(deployment: Deployment, machine: Machine) -> Iterator[str]:
    quiet = "2>/dev/null || :"
    for port in machine.ports:
        if disciplines(port):
            yield f"tc qdisc del dev {port.device} root {quiet}"
    if machine.node is None:
        yield f"ip link del dev {_BRIDGE} {quiet}"
    else:
        own = deployment.nodes[machine.node]
        for ip, family, length in _FAMILIES:
            if own[family]:
                yield f"{ip} route flush proto {ROUTES} {quiet}"
                for port in machine.ports:
                    yield f"{ip} address del {own[family]}/{length} dev {port.device} {quiet}"
    for port in machine.ports:
        if port.vlan:
            yield f"ip link del dev {port.device} {quiet}"
        else:
            yield f"ethtool -K {port.device} {_OFFLOADS.replace('off', 'on')} {quiet}"
    yield '[ -e "$kept" ] || return 0'
    yield "while read -r path value; do"
    yield '  [ ! -e "$path" ] || echo "$value" >"$path"'
    yield 'done <"$kept"'
    yield 'rm -f "$kept"'
