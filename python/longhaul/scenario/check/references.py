"""Checks of names that one part of a scenario uses for another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.scenario.check.clusters import check_relay
from longhaul.scenario.check.names import (
    attachment_name,
    handovers,
    interface_names,
    machine_named,
    may_rename,
    metrics_of,
    traffic_pairs,
    unknown_sweep_metrics,
)
from longhaul.scenario.expand.axes import axes_of
from longhaul.scenario.expand.places import find_axis, unknown_axis
from longhaul.scenario.model import Background, Bulk, Datagrams, Pcap, Ping, Program, Replay, Requests
from longhaul.scenario.model.metrics import bound, nearest_metrics
from longhaul.scenario.model.port import DevicePort
from longhaul.scenario.model.program import ENTRYPOINT
from longhaul.scenario.model.start import After
from longhaul.scenario.model.traffic import Flow
from longhaul.scenario.syntax.problems import ENOUGH_PROBLEMS, did_you_mean
from longhaul.scenario.syntax.ranges import RangeError, expand
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.scenario.syntax.yaml_tree import Path
from longhaul.units.quantities import UnitError

if TYPE_CHECKING:
    from longhaul.scenario.check.scenario import Scenario

MOST_NODES = 20_000


def check_references(scenario: Scenario) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Everything that is wrong with the names of ``scenario``, and what is merely odd."""
    check = _Check(scenario)
    with suppress(_EnoughError):
        check.nodes()
        if not check.problems:
            check.links()
            check.ports()
            check.routes()
            check.runs()
            check.events()
            check.relay()
            check.measures()
            check.sweep()
    return check.problems, check.warnings


class _EnoughError(Exception):
    """So many names are wrong that nobody looks for more."""


class _Check:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.document = scenario.document
        self.problems: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.node_keys: dict[str, str] = {}
        self.link_names: dict[str, tuple[str, str]] = {}
        self.host_of: dict[str, str] = {}
        """Of each further interface."""
        self.first_interfaces: dict[str, str] = {}
        """The host whose name and addresses it has, by interface."""

    def wrong(self, code: Code, path: Path, message: str, remedy: str | None = None) -> None:
        self.problems.append(self.scenario.problem(code, path, message, remedy))
        if len(self.problems) >= ENOUGH_PROBLEMS:
            raise _EnoughError

    def kind(self, name: str) -> str:
        return self.document.nodes[self.node_keys[name]].kind

    def known(self, code: Code, path: Path, what: str, name: str, names: Collection[str]) -> bool:
        """Whether ``name`` is among ``names``; a problem otherwise."""
        if name in names:
            return True
        self.wrong(code, path, f'there is no {what} "{name}"', did_you_mean(name, names))
        return False

    def nodes(self) -> None:
        for key in self.document.nodes:
            try:
                names = expand(key)
            except RangeError as error:
                self.wrong(error.code, ("nodes", key), error.message, error.remedy)
                continue
            for name in names:
                if name in self.node_keys:
                    before = self.node_keys[name]
                    self.wrong(
                        Code.NAME_DUPLICATE,
                        ("nodes", key),
                        f'names "{name}" again, which is in "{before}"',
                        "change one of them",
                    )
                    break
                self.node_keys[name] = key
            long = next((name for name in names if len(name) > 63), None)
            if long or "localhost" in names:
                self.wrong(
                    Code.NAME_INVALID,
                    ("nodes", key),
                    f'"{long or "localhost"}" cannot name a host',
                    "choose another name",
                )
            if len(self.node_keys) > MOST_NODES:
                self.wrong(
                    Code.NETWORK_TOO_LARGE, ("nodes", key), f"makes more than {MOST_NODES} nodes", "use fewer"
                )
                return
        routers = dict.fromkeys(
            name
            for name, key in self.node_keys.items()
            if self.document.nodes[key].kind != "host" or self.document.nodes[key].forward
        )
        for key, node in self.document.nodes.items():
            path = ("nodes", key)
            if node.attach is not None and node.attach not in routers:
                if node.attach in self.node_keys:
                    remedy = (
                        did_you_mean(node.attach, routers)
                        if routers
                        else "add a router or a switch, or write a link"
                    )
                    what = f'"{node.attach}" is a host that does not forward'
                    self.wrong(Code.NODE_KIND, (*path, "attach"), what, remedy)
                else:
                    self.known(Code.NODE_UNKNOWN, (*path, "attach"), "router", node.attach, routers)
            if node.profile is not None:
                self.known(
                    Code.PROFILE_UNKNOWN, (*path, "profile"), "profile", node.profile, self.document.profiles
                )

    def links(self) -> None:
        touched: set[str] = set()
        for name, key in self.node_keys.items():
            router = self.document.nodes[key].attach
            if router:
                self.link_names[attachment_name(name, router)] = (name, router)
                touched |= {name, router}
        for host, router in handovers(self.document):
            if host in self.node_keys and router in self.node_keys:
                self.link_names.setdefault(attachment_name(host, router), (host, router))
        moved = {attachment_name(*ends) for ends in handovers(self.document)}
        for name, link in self.document.links.items():
            path = ("links", name)
            if name in self.link_names and name not in moved:
                self.wrong(Code.NAME_DUPLICATE, path, "is also the name of an attachment", "rename the link")
            for position, end in enumerate(link.endpoints):
                self.known(Code.NODE_UNKNOWN, (*path, "endpoints", position), "node", end, self.node_keys)
            if link.endpoints[0] == link.endpoints[1]:
                self.wrong(
                    Code.SAME_ENDS,
                    (*path, "endpoints"),
                    f'both ends are "{link.endpoints[0]}"',
                    "name two nodes",
                )
            if link.profile is not None:
                self.known(
                    Code.PROFILE_UNKNOWN, (*path, "profile"), "profile", link.profile, self.document.profiles
                )
            self.link_names[name] = link.endpoints
            touched |= set(link.endpoints)
        for name, key in self.node_keys.items():
            if name not in touched and len(self.node_keys) > 1:
                remedy = "add attach, or a link that ends here"
                if self.document.nodes[key].kind == "host":
                    self.wrong(Code.NODE_UNLINKED, ("nodes", key), f'no link reaches "{name}"', remedy)
                else:
                    self.warnings.append(
                        self.scenario.warning(
                            Code.NODE_ISOLATED, ("nodes", key), f'no link reaches "{name}"', remedy
                        )
                    )
        hosts = {name for name in self.node_keys if self.kind(name) == "host"}
        hosts -= {host for host, _router in handovers(self.document)}
        met: set[str] = set()
        for (host, _link), interface in interface_names(hosts, self.link_names).items():
            of = self.host_of if host in met else self.first_interfaces
            of[interface] = host
            met.add(host)
        used = {node.profile for node in self.document.nodes.values()}
        used |= {link.profile for link in self.document.links.values()}
        for profile in self.document.profiles:
            if profile not in used:
                self.warnings.append(
                    self.scenario.warning(
                        Code.UNUSED, ("profiles", profile), "is not used", f"write profile: {profile}"
                    )
                )

    def ports(self) -> None:
        users: dict[tuple[str, str | None], str] = {}
        ends = Counter(end for ends in self.link_names.values() for end in ends)
        for name, key in self.node_keys.items():
            port, path = self.document.nodes[key].port, ("nodes", key, "port")
            if port is None:
                continue
            # Two machines may have interfaces and namespaces of one name.
            at = port.place, machine_named(self.document, key)
            if at in users:
                message = f"{port.place} is already the port of {users[at]}"
                self.wrong(Code.PORT_INVALID, path, message, "write a host for each port")
                continue
            users[at] = name
            if isinstance(port, DevicePort):
                if ends[name] > 1:
                    message = f"{port.place} is one interface, and {name} has {ends[name]} links"
                    self.wrong(
                        Code.PORT_INVALID, path, message, "attach it to one router, which has the links"
                    )
            elif len(port.interface) > max(ends[name], 1):
                message = f"names {len(port.interface)} interfaces, and {name} has {ends[name]} links"
                self.wrong(Code.PORT_INVALID, (*path, "interface"), message, "write one name for each link")

    def routes(self) -> None:
        for position, route in enumerate(self.document.routes):
            path = ("routes", position)
            here = self.known(Code.NODE_UNKNOWN, (*path, "at"), "node", route.at, self.node_keys)
            for name in self.expanded((*path, "to"), route.to):
                if (
                    self.known(Code.NODE_UNKNOWN, (*path, "to"), "node", name, self.node_keys)
                    and name == route.at
                ):
                    self.wrong(
                        Code.NAME_DUPLICATE, (*path, "to"), f'"{name}" already exists', "name another node"
                    )
            if not here:
                continue
            mine = {name: ends for name, ends in self.link_names.items() if route.at in ends}
            neighbours = {(set(ends) - {route.at}).pop() for ends in mine.values() if ends[0] != ends[1]}
            if route.via in mine:
                continue
            if route.via not in neighbours:
                what = f'"{route.via}" is neither a link nor a neighbour of "{route.at}"'
                self.wrong(
                    Code.NEXT_HOP, (*path, "via"), what, did_you_mean(route.via, [*mine, *sorted(neighbours)])
                )
            elif sum(route.via in ends for ends in mine.values()) > 1:
                names = ", ".join(name for name, ends in mine.items() if route.via in ends)
                self.wrong(
                    Code.NEXT_HOP,
                    (*path, "via"),
                    f'several links lead to "{route.via}"',
                    f"name one of {names}",
                )

    def expanded(self, path: Path, text: str) -> tuple[str, ...]:
        try:
            return expand(text)
        except RangeError as error:
            self.wrong(error.code, path, error.message, error.remedy)
            return ()

    def hosts(
        self,
        path: Path,
        texts: tuple[str, ...],
        *,
        routers_too: bool = False,
        interfaces: Collection[str] = (),
    ) -> list[str]:
        """The hosts that ``texts`` name, or ``interfaces``; problems for those that are none."""
        found = []
        kinds = ("host", "router") if routers_too else ("host",)
        place_of: Mapping[int, Path] = {position: (*path, position) for position in range(len(texts))}
        for position, text in enumerate(texts):
            for name in self.expanded(place_of[position], text):
                known = name in self.node_keys
                if name in interfaces or (known and self.kind(name) in kinds):
                    found.append(name)
                    continue
                if interfaces and name in self.first_interfaces:
                    host = self.first_interfaces[name]
                    message = f'"{name}" is the first interface of "{host}", and has its name'
                    self.wrong(Code.NODE_UNKNOWN, place_of[position], message, f"write {host}")
                    break
                hosts = [each for each in self.node_keys if self.kind(each) in kinds]
                near = did_you_mean(name, [*hosts, *interfaces])
                if not known:
                    self.wrong(Code.NODE_UNKNOWN, place_of[position], f'there is no host "{name}"', near)
                    break
                kind = self.kind(name)
                what = "which has no address" if routers_too else "where no programs run"
                message = f'"{name}" is a {kind}, {what}'
                self.wrong(Code.NODE_KIND, place_of[position], message, near)
        return found

    def runs(self) -> None:
        for name, program in self.document.programs.items():
            path = ("programs", name)
            if program.host:
                self.runs_programs((*path, "host"), program, self.hosts((*path, "host"), (program.host,)))
            for key in ("hosts", "each"):
                found = self.hosts((*path, key), getattr(program, key) or ())
                self.runs_programs((*path, key), program, found)
            if isinstance(program.start, After):
                self.order((*path, "start"), name, program, program.start.program)
        for name, flow in self.document.traffic.items():
            path = ("traffic", name)
            if name in self.document.programs:
                self.wrong(
                    Code.NAME_DUPLICATE,
                    path,
                    "is also the name of a program",
                    "rename one of them: they share logs",
                )
            if isinstance(flow, Background):
                self.known(Code.LINK_UNKNOWN, (*path, "link"), "link", flow.link, self.link_names)
                self.has_an_end(path, flow)
                continue
            if isinstance(flow, Replay):
                # It ends with its list, whose hosts are looked up where it is read.
                continue
            if isinstance(flow, Pcap):
                # It ends with its capture.
                for key, host in (("from", flow.source), ("to", flow.to)):
                    self.hosts((*path, key), (host,) if host else ())
                for written, host in (flow.addresses or {}).items():
                    self.hosts((*path, "addresses", written), (host,))
                continue
            before = len(self.problems)
            sources = dict.fromkeys(self.hosts((*path, "from"), flow.source))
            targets = dict.fromkeys(
                self.hosts((*path, "to"), flow.to, routers_too=flow.kind == "ping", interfaces=self.host_of)
            )
            if len(self.problems) == before:
                self.pairs(path, flow, len(sources), len(targets))
            self.has_an_end(path, flow)

    def pairs(self, path: Path, flow: Flow, sources: int, targets: int) -> None:
        """Whether each sender of traffic between known hosts has one receiver, which is another host."""
        if 1 not in (sources, targets) and sources != targets:
            self.wrong(
                Code.WRONG_LENGTH,
                (*path, "to"),
                f'"from" names {sources} hosts and "to" {targets}',
                "name as many in both for pairs, or one host in one of them",
            )
            return
        itself = next(
            (source for source, to in traffic_pairs(flow) if source == self.host_of.get(to, to)), None
        )
        if itself is not None:
            self.wrong(Code.SAME_ENDS, (*path, "to"), f'"{itself}" would send to itself', "name another host")

    def runs_programs(self, path: Path, program: Program, hosts: list[str]) -> None:
        """Whether these hosts can run the program: not if they only stand for others behind a device."""
        for name in hosts if program.run else ():
            port = self.document.nodes[self.node_keys[name]].port
            if isinstance(port, DevicePort):
                message = f'"{name}" stands for hosts behind {port.place}'
                self.wrong(Code.NODE_KIND, path, message, "start the program there yourself")
                return
            image = self.document.nodes[self.node_keys[name]].image
            if program.run and program.run[0] == ENTRYPOINT and image is None:
                message, remedy = f'"{name}" has no image', "write image: NAME at the host, or run: COMMAND"
                self.wrong(Code.HOST_SETTINGS_INVALID, path, message, remedy)
                return

    def order(self, path: Path, name: str, program: Program, awaited: str) -> None:
        """Whether a program can start after ``awaited``."""
        programs = self.document.programs
        if not self.known(Code.PROGRAM_UNKNOWN, path, "program", awaited, programs):
            return
        first = programs[awaited]
        if name in self.waiting(awaited):
            self.wrong(
                Code.START_REFERENCE,
                path,
                f'"{name}" would wait for itself',
                "name a program that starts before it",
            )
        elif first.service:
            self.wrong(
                Code.START_REFERENCE,
                path,
                f'"{awaited}" is a service, which does not end',
                "name another program",
            )
        elif program.run and not first.run:
            remedy = f'add "run" to "{awaited}", or write a time'
            self.wrong(Code.START_REFERENCE, path, f'"{awaited}" has no "run" to wait for', remedy)
        elif program.simulate and not first.simulate:
            remedy = f'add "simulate" to "{awaited}", or write a time'
            self.wrong(Code.START_REFERENCE, path, f'"{awaited}" has no "simulate" to wait for', remedy)

    def waiting(self, name: str) -> list[str]:
        """``name``, the program that it waits for, and so on; each once."""
        found: list[str] = []
        while name in self.document.programs and name not in found:
            found.append(name)
            start = self.document.programs[name].start
            name = start.program if isinstance(start, After) else ""
        return found

    def has_an_end(self, path: Path, flow: Ping | Bulk | Datagrams | Requests | Background) -> None:
        """Says so if a run would never end with this traffic."""
        endless = self.document.duration is None and flow.stop is None
        if endless and flow.kind == "requests":
            self.wrong(Code.NEVER_ENDS, path, "would never end", "add stop here, or duration at the top")
        elif endless and (isinstance(flow, Background) or flow.simulated) and self._has_programs():
            # Background traffic ends with the programs in front of it.
            pass
        elif endless and isinstance(flow, Background):
            self.wrong(Code.NEVER_ENDS, path, "would never end", "add stop here, or duration at the top")
        elif endless and not getattr(flow, "count", None) and not getattr(flow, "bytes", None):
            what = "count" if flow.kind == "ping" else "bytes"
            self.wrong(
                Code.NEVER_ENDS, path, "would never end", f"add stop or {what} here, or duration at the top"
            )

    def _has_programs(self) -> bool:
        return any(each.run and not each.service for each in self.document.programs.values())

    def events(self) -> None:
        for position, event in enumerate(self.document.events):
            for index, name in enumerate(event.link):
                self.known(
                    Code.LINK_UNKNOWN, ("events", position, "link", index), "link", name, self.link_names
                )
            for index, name in enumerate(event.host or ()):
                place = ("events", position, "host", index)
                if not self.known(Code.NODE_UNKNOWN, place, "host", name, self.node_keys):
                    continue
                if event.attach is not None and self.kind(name) != "host":
                    self.wrong(
                        Code.NODE_KIND,
                        place,
                        f'"{name}" is a {self.kind(name)}, which does not move',
                        "name a host",
                    )
            for index, name in enumerate(event.node):
                self.known(
                    Code.NODE_UNKNOWN, ("events", position, "node", index), "node", name, self.node_keys
                )
            if event.attach is not None:
                self.target(("events", position, "attach"), event.attach)
            if self.document.duration and event.at >= self.document.duration:
                path = ("events", position, "at")
                self.warnings.append(
                    self.scenario.warning(
                        Code.EVENT_AFTER_END, path, f"{event.at} is after the end of the run"
                    )
                )

    def target(self, path: Path, name: str) -> None:
        """Whether hosts can move to ``name``."""
        if not self.known(Code.NODE_UNKNOWN, path, "router", name, self.node_keys):
            return
        if self.kind(name) != "router":
            routers = [each for each in self.node_keys if self.kind(each) == "router"]
            what = f'"{name}" is a {self.kind(name)}, not a router'
            self.wrong(Code.NODE_KIND, path, what, did_you_mean(name, routers))

    def relay(self) -> None:
        kinds = {name: self.kind(name) for name in self.node_keys}
        for wrong in check_relay(self.document, kinds):
            self.wrong(wrong.code, wrong.path, wrong.message, wrong.remedy)

    def measures(self) -> None:
        packets = self.document.measure.packets
        for position, name in enumerate(packets.links if packets else ()):
            self.known(
                Code.LINK_UNKNOWN, ("measure", "packets", "links", position), "link", name, self.link_names
            )
        monitor = self.document.measure.monitor
        for position, name in enumerate(monitor.links or () if monitor else ()):
            self.known(
                Code.LINK_UNKNOWN, ("measure", "monitor", "links", position), "link", name, self.link_names
            )
        if self.problems or not self.document.expect:
            return
        metrics = metrics_of(self.document, links=self.link_names)
        for position, expectation in enumerate(self.document.expect):
            path = ("expect", position)
            if expectation.metric not in metrics:
                message = f'there is no metric "{printable(expectation.metric)}"'
                self.wrong(
                    Code.METRIC_UNKNOWN,
                    (*path, "metric"),
                    message,
                    nearest_metrics(expectation.metric, metrics),
                )
                continue
            for key in ("min", "max", "equals"):
                value = getattr(expectation, key)
                if value is None:
                    continue
                try:
                    bound(value, metrics[expectation.metric])
                except UnitError as error:
                    self.wrong(error.code, (*path, key), error.message, error.remedy)

    def sweep(self) -> None:
        sweep = self.document.sweep
        if sweep is None:
            return
        for axis in sweep.axes:
            if find_axis(self.scenario.tree, axis) is None:
                message, remedy = unknown_axis(self.scenario.tree, axis)
                self.wrong(Code.AXIS_UNKNOWN, ("sweep", "axes", axis), message, remedy)
        try:
            axes_of(sweep.axes, grid=sweep.design == "grid")
        except ScenarioValueError as error:
            self.wrong(error.code, ("sweep", "axes", *error.at), error.message, error.remedy)
        if not self.problems and not may_rename(self.scenario.tree, sweep.axes):
            variants = [(self.document, metrics_of(self.document, links=self.link_names))]
            # Only the sweep knows its clock; on the virtual one it measures more.
            nowhere = {path for path, *_ in unknown_sweep_metrics(sweep, variants, live=True)}
            for path, message, remedy in unknown_sweep_metrics(sweep, variants):
                if path in nowhere:
                    self.wrong(Code.METRIC_UNKNOWN, path, message, remedy)
