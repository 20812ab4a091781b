"""The namespaces, devices and commands of a plan's network: pure text, which the guest executes.

Each node has a namespace ``n0``, ``n1`` and so on; the links' own devices are in the namespace ``links``,
where the packets of a stage are redirected to the next without another hop. Neighbours are entered by hand,
so that no ARP is among the packets that are counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from longhaul.oracle.stages import Role, Stage
from longhaul.plan import WAYS, Node, Plan, Way
from longhaul.scenario.lower.paths import Routes

LINKS = "links"
"""The namespace of the links' devices."""
_FAMILIES: tuple[tuple[str, Literal["ipv4", "ipv6"], int], ...] = (("-4", "ipv4", 32), ("-6", "ipv6", 128))
_SINGLE = "gso_max_segs 1"
"""netem and the bucket would take a super-packet for one packet."""
_HOST_SYSCTLS = {
    "net.ipv4.ping_group_range": "0 2147483647",
    "net.ipv4.ip_unprivileged_port_start": "0",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_congestion_control": "cubic",
}
"""What hosts of other runs have, too."""
_EVERY_SYSCTL = {
    "net.ipv6.conf.default.accept_ra": "0",
    "net.ipv6.conf.default.accept_dad": "0",
    "net.ipv6.conf.default.addr_gen_mode": "1",
}
_NO_IPV6 = {"net.ipv6.conf.default.disable_ipv6": "1"}
_ROUTER_SYSCTLS = {"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1"}


@dataclass(frozen=True)
class Command:
    """A program that the guest runs while it builds the network, and what it reads."""

    argv: tuple[str, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counter:
    """Where the packets of one stage are counted."""

    link: int
    way: Way
    role: Role
    namespace: str
    device: str


@dataclass(frozen=True)
class Layout:
    """How the network is built, and where it counts."""

    commands: tuple[Command, ...]
    counters: tuple[Counter, ...]
    """By link and way, in the order in which packets pass them."""
    namespaces: tuple[str, ...]


Chains = Sequence[dict[Way, Sequence[Stage]]]
"""The stages of each link and way."""


def namespace(node: int) -> str:
    """The namespace of a node."""
    return f"n{node}"


def layout(plan: Plan, chains: Chains, *, super_packets: bool = False) -> Layout:
    """The network of a plan whose links have these stages.

    ``super_packets``: devices take them, as they do by default; netem delays and loses each as a whole.
    """
    take = "" if super_packets else _SINGLE
    nodes = range(len(plan["nodes"]))
    names = (*map(namespace, nodes), LINKS)
    paths = [_Passage(link, way, chains[link][way]) for link in range(len(chains)) for way in WAYS]
    commands = [
        Command(("ip", "-batch", "-"), tuple(f"netns add {name}" for name in names)),
        _sysctls(LINKS, _NO_IPV6),
        *(_sysctls(namespace(node), _EVERY_SYSCTL) for node in nodes),
        Command(("ip", "-batch", "-"), tuple(_devices(plan, paths))),
        *_within("ip", LINKS, [f"link set {device} {take} up" for device in _links_devices(paths)]),
    ]
    routes = Routes(plan)
    for node in nodes:
        commands += _within(
            "ip", namespace(node), [*_addresses(plan, node, take), *_hops(plan, routes, node)]
        )
        commands.append(_sysctls(namespace(node), _settings(plan["nodes"][node])))
    tc: dict[str, list[str]] = {name: [] for name in names}
    for path in paths:
        tc[LINKS] += path.redirections()
    counters = []
    for path in paths:
        for stage, (place, device) in zip(path.stages, path.places(plan), strict=True):
            tc[place] += [f"qdisc add dev {device} {command}" for command in stage.commands]
            counters.append(Counter(path.link, path.way, stage.role, place, device))
    for name, lines in tc.items():
        commands += _within("tc", name, lines)
    return Layout(tuple(commands), tuple(counters), names)


def places(plan: Plan, link: int, way: Way, stages: Sequence[Stage]) -> list[tuple[str, str]]:
    """Namespace and device of each stage of a direction of a link."""
    return list(_Passage(link, way, stages).places(plan))


@dataclass(frozen=True)
class _Passage:
    """One direction of a link: from the sender's device, through pairs of devices, to the receiver's."""

    link: int
    way: Way
    stages: Sequence[Stage]

    @property
    def begins_at_sender(self) -> bool:
        """Whether the first stage is on the sender's own device: all but the last could be."""
        return len(self.stages) > 1

    @property
    def ends(self) -> tuple[str, str]:
        """The letters of its ends, the sender's first."""
        return ("a", "b") if self.way == "forward" else ("b", "a")

    def pairs(self) -> list[tuple[str, str]]:
        """The devices of the stages between the first and the last: where packets go in, and come out."""
        between = len(self.stages) - 2 if self.begins_at_sender else 0
        return [
            (f"lh{self.link}{self.ends[0]}{each}i", f"lh{self.link}{self.ends[0]}{each}o")
            for each in range(between)
        ]

    def redirections(self) -> Iterator[str]:
        """Commands of tc that lead packets from device to device in the namespace of the links."""
        sender, receiver = (f"lh{self.link}{end}" for end in self.ends)
        arrives = [sender, *(out for _, out in self.pairs())]
        leaves = [*(into for into, _ in self.pairs()), receiver]
        for come, go in zip(arrives, leaves, strict=True):
            yield f"qdisc add dev {come} clsact"
            yield f"filter add dev {come} ingress matchall action mirred egress redirect dev {go}"

    def places(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """Namespace and device of each stage."""
        sender, receiver = (f"lh{self.link}{end}" for end in self.ends)
        if self.begins_at_sender:
            ends = plan["links"][self.link]["endpoints"]
            yield namespace(ends[0 if self.way == "forward" else 1]), sender
        for into, _ in self.pairs():
            yield LINKS, into
        yield LINKS, receiver


def _devices(plan: Plan, paths: Sequence[_Passage]) -> Iterator[str]:
    for number, link in enumerate(plan["links"]):
        for end, node in zip("ab", link["endpoints"], strict=True):
            name, mtu = f"lh{number}{end}", link["mtu"]
            yield (
                f"link add {name} netns {namespace(node)} mtu {mtu} address {_mac(number, end)} "
                f"type veth peer name {name} netns {LINKS} mtu {mtu}"
            )
    for path in paths:
        for into, out in path.pairs():
            mtu = plan["links"][path.link]["mtu"]
            yield f"link add {into} netns {LINKS} mtu {mtu} type veth peer name {out} netns {LINKS} mtu {mtu}"


def _links_devices(paths: Sequence[_Passage]) -> Iterator[str]:
    for path in paths:
        yield f"lh{path.link}{path.ends[0]}"
        for pair in path.pairs():
            yield from pair


def _addresses(plan: Plan, node: int, take: str) -> Iterator[str]:
    """The address of a node on each of its devices, and who is at the other ends."""
    own = plan["nodes"][node]
    yield "link set lo up"
    for number, link in enumerate(plan["links"]):
        for place, end in enumerate("ab"):
            if link["endpoints"][place] != node:
                continue
            device, peer = f"lh{number}{end}", plan["nodes"][link["endpoints"][1 - place]]
            yield f"link set {device} {take} up"
            for _ip, family, length in _FAMILIES:
                if own[family]:
                    nodad = " nodad" if family == "ipv6" else ""
                    yield f"address add {own[family]}/{length} dev {device}{nodad}"
                if own[family] and peer[family]:
                    mac = _mac(number, "ba"[place])
                    yield f"neigh add {peer[family]} lladdr {mac} dev {device} nud permanent"


def _hops(plan: Plan, routes: Routes, node: int) -> Iterator[str]:
    """A route to each other node, neighbours first: what is behind them is reached through them."""
    own = plan["nodes"][node]
    window = own.get("initial_window")
    first = f" initcwnd {window} initrwnd {window}" if window else ""
    found: list[tuple[bool, str]] = []
    for target, destination in enumerate(plan["nodes"]):
        step = routes.next(node, target) if target != node else None
        if step is None:
            continue
        link, way = step
        ends = plan["links"][link]["endpoints"]
        device = f"lh{link}{'a' if way == 'forward' else 'b'}"
        gateway = plan["nodes"][ends[1 if way == "forward" else 0]]
        far = gateway is not destination
        for ip, family, length in _FAMILIES:
            if own[family] and destination[family]:
                via = f" via {gateway[family]}" if far else ""
                onlink = " onlink" if far and ip == "-4" else ""
                line = f"route add {destination[family]}/{length}{via} dev {device}{onlink} src {own[family]}"
                found.append((far, line + first))
    yield from (line for _far, line in sorted(found, key=lambda each: each[0]))


def _settings(node: Node) -> dict[str, str]:
    return {**(_HOST_SYSCTLS if node["kind"] == "host" else _ROUTER_SYSCTLS), **node["sysctls"]}


def _sysctls(name: str, values: dict[str, str]) -> Command:
    settings = (f"{key}={value}" for key, value in values.items())
    return Command(("ip", "netns", "exec", name, "sysctl", "-q", "-w", *settings))


def _within(program: str, name: str, lines: Sequence[str]) -> list[Command]:
    return [Command((program, "-n", name, "-batch", "-"), tuple(lines))] if lines else []


def _mac(link: int, end: str) -> str:
    """The address of a device: locally administered, and equal in every run."""
    digits = f"{2 * link + (end == 'b') + 1:010x}"
    return "02:" + ":".join(digits[place : place + 2] for place in range(0, 10, 2))
