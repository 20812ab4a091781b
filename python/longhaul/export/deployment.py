"""Assignment of nodes and links to machines, devices and shapers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.export.machines import Machines, Management, check_machines
from longhaul.export.qdiscs import Kernel, Shaping, shape
from longhaul.plan import WAYS, Node, Plan, Way
from longhaul.scenario import Resolved
from longhaul.scenario.lower.main_tables import without_interfaces
from longhaul.scenario.lower.network import origin_of
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.lower.segments import switch_names
from longhaul.scenario.model.node import SETTINGS
from longhaul.scenario.syntax.problems import ScenarioError

Role = Literal["client", "access point", "router", "link emulator"]


@dataclass(frozen=True)
class Port:
    """An interface of a machine."""

    device: str
    peer: str
    """The machine at the other end."""
    link: str
    way: Way
    """The direction of the link that leaves here."""
    mtu: int
    shaping: Shaping | None
    """What is done to that direction; ``None`` where a machine of its own does it."""
    address: str | None
    """In eWAN's style."""

    @property
    def vlan(self) -> tuple[str, int] | None:
        """The device below and the number, of a VLAN's device."""
        parent, dot, number = self.device.partition(".")
        return (parent, int(number)) if dot else None


@dataclass(frozen=True)
class Hop:
    """Where a node sends packets for another: through a port, and to whom."""

    destination: int
    port: Port
    gateway: int


@dataclass(frozen=True)
class Machine:
    """A node, or a link that has a machine of its own."""

    name: str
    role: Role
    node: int | None
    """Its index in the plan; ``None``: a link."""
    number: int
    managed_at: str | None
    user: str | None
    ports: tuple[Port, ...]
    hops: tuple[Hop, ...]


@dataclass(frozen=True)
class Deployment:
    """All machines, in the order of the file, nodes before links."""

    name: str
    nodes: Sequence[Node]
    machines: tuple[Machine, ...]
    management: Management | None
    warnings: tuple[Diagnostic, ...]

    def machine(self, name: str) -> Machine:
        """The machine called ``name``."""
        return next(each for each in self.machines if each.name == name)


def deploy(resolved: Resolved, *, machines: Machines | None, kernel: Kernel) -> Deployment:
    """``resolved`` on ``machines``; without those each node is one, with eth1, eth2 and so on.

    Raises :class:`ScenarioError` for what tc cannot express, and for machines that do not fit.
    """
    plan = without_interfaces(resolved.plan)
    for name in switch_names(plan["nodes"]):
        message = f"{name} is a switch, and machines of an export are hosts and routers"
        raise LonghaulError(Code.EXPORT_IMPOSSIBLE, message, remedy="write kind: router", exit_code=2)
    nodes = plan["nodes"]
    names = [node["name"] for node in nodes]
    ends = {
        link["name"]: (names[link["endpoints"][0]], names[link["endpoints"][1]]) for link in plan["links"]
    }
    entries = machines.document.machines if machines else {}
    if machines:
        taken = [address for node in nodes for address in (node["ipv4"], node["ipv6"]) if address]
        problems = check_machines(machines, nodes=names, ends=ends, taken=taken)
        if problems:
            raise ScenarioError(problems)
    shapings, warnings = _shapings(resolved, kernel)
    own = [name for name in ends if name in entries and name not in names]
    routes = Routes(plan)
    everyone = range(len(nodes))
    reachable = [[each is not None for each in routes.reaches(everyone, node)] for node in everyone]
    found: list[Machine] = []
    for name in (*names, *own):
        node = names.index(name) if name in names else None
        ports: list[Port] = []
        for link in plan["links"]:
            for here, far, way in _sides(ends[link["name"]]):
                if name != (here if node is not None else link["name"]):
                    continue
                given = None
                if name in entries:
                    given = entries[name].interfaces.get(link["name"] if node is not None else far)
                elsewhere = node is not None and link["name"] in own
                ports.append(
                    Port(
                        device=given.device if given else f"eth{len(ports) + 1}",
                        peer=link["name"] if elsewhere else far,
                        link=link["name"],
                        way=way,
                        mtu=link["mtu"],
                        shaping=None if elsewhere else shapings[link["name"], way],
                        address=given.address if given else None,
                    )
                )
        entry = entries.get(name)
        found.append(
            Machine(
                name=name,
                role=_role(plan, node),
                node=node,
                number=entry.number if entry and entry.number is not None else len(found),
                managed_at=entry.address if entry else None,
                user=entry.user if entry else None,
                ports=tuple(_in_order(ports, list(entry.interfaces) if entry else [], node)),
                hops=_hops(plan, routes, reachable, node, ports) if node is not None else (),
            )
        )
    found.sort(key=lambda machine: machine.number if entries else 0)
    management = machines.document.management if machines else None
    return Deployment(plan["name"], nodes, tuple(found), management, tuple(warnings))


def _sides(ends: tuple[str, str]) -> tuple[tuple[str, str, Way], tuple[str, str, Way]]:
    """Who sends, to whom, which direction."""
    a, b = ends
    return (a, b, "forward"), (b, a, "reverse")


def _in_order(ports: list[Port], keys: list[str], node: int | None) -> list[Port]:
    """As the file of machines has them, which is the order of eWAN's interfaces."""
    if not keys:
        return ports
    return sorted(ports, key=lambda port: keys.index(port.link if node is not None else port.peer))


def _shapings(resolved: Resolved, kernel: Kernel) -> tuple[dict[tuple[str, Way], Shaping], list[Diagnostic]]:
    """What is done to each direction; what is refused is raised, what is rough is a warning."""
    scenario, plan = resolved.scenario, resolved.plan
    shapings = {}
    problems: list[Diagnostic] = []
    warnings = list(resolved.warnings)
    for link in plan["links"]:
        origin = origin_of(scenario, link["name"])
        for way in WAYS:
            shaping = shape(link[way], mtu=link["mtu"], kernel=kernel)
            shapings[link["name"], way] = shaping
            for each in shaping.refused:
                problems.append(origin.problem(each.code, each.at, way, each.message, each.remedy))
            for each in shaping.rough:
                warnings.append(
                    origin.problem(Code.EXPORT_APPROXIMATES, each.at, way, each.message, each.remedy)
                )
    if problems:
        raise ScenarioError(problems)
    for key, remedy in (
        ("programs", "start them on the machines"),
        ("traffic", "start iperf3 and ping on the machines"),
        ("events", "the scripts set up how the network is at the start"),
    ):
        if getattr(scenario.document, key):
            warnings.append(
                scenario.warning(Code.EXPORT_LEAVES_OUT, (key,), "is not part of the scripts", remedy)
            )
    for name, node in scenario.document.nodes.items():
        if node.pacing is not None:
            remedy = "pace the machine's programs (iperf3 --fq-rate), or give it a qdisc of your own"
            warnings.append(
                scenario.warning(
                    Code.EXPORT_LEAVES_OUT, ("nodes", name, "pacing"), "is not part of the scripts", remedy
                )
            )
        for key in sorted(node.model_fields_set & set(SETTINGS)):
            remedy = "set it up on the machine"
            warnings.append(
                scenario.warning(
                    Code.EXPORT_LEAVES_OUT, ("nodes", name, key), "is not part of the scripts", remedy
                )
            )
    return shapings, list(dict.fromkeys(warnings))


def _role(plan: Plan, node: int | None) -> Role:
    if node is None:
        return "link emulator"
    nodes = plan["nodes"]
    if nodes[node]["kind"] == "host":
        return "client"
    for link in plan["links"]:
        a, b = link["endpoints"]
        if node in (a, b) and nodes[b if a == node else a]["kind"] == "host":
            return "access point"
    return "router"


def _hops(
    plan: Plan, routes: Routes, reachable: Sequence[Sequence[bool]], node: int, ports: Sequence[Port]
) -> tuple[Hop, ...]:
    """Neighbours first: what is behind them is reached through them."""
    by_link = {port.link: port for port in ports}
    hops = []
    for destination in range(len(plan["nodes"])):
        step = (
            routes.next(node, destination) if reachable[destination][node] and destination != node else None
        )
        if step is None:
            continue
        link = plan["links"][step[0]]
        a, b = link["endpoints"]
        hops.append(Hop(destination, by_link[link["name"]], b if a == node else a))
    return tuple(sorted(hops, key=lambda hop: hop.gateway != hop.destination))
