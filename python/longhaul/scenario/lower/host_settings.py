"""What hosts have of their own beside their network, as a plan has it."""

import hashlib
from collections.abc import Iterator, Sequence

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import HostFile, HostRoot, HostSettings, Node
from longhaul.scenario.check.names import program_hosts
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.network import NamedNode, Network
from longhaul.scenario.model.host_settings import CAPABILITIES
from longhaul.scenario.model.node import Node as NodeSpec
from longhaul.scenario.syntax.value_errors import ScenarioValueError

_PROGRAMS = (b"#!", b"\x7fELF")
"""Beginnings of files that can be executed."""


def with_settings(
    scenario: Scenario, network: Network, nodes: Sequence[Node], inputs: Inputs
) -> tuple[list[Node], list[Diagnostic]]:
    """The nodes with the settings of those that have some, and what is wrong with these."""
    problems = [*_ambiguous_names(scenario, network), *_launches(scenario, network)]
    found = list(nodes)
    for index, node in enumerate(network.nodes):
        if node.of is not None:
            continue
        files, wrong = _files(scenario, node, inputs)
        problems += wrong
        settings: HostSettings = {}
        if node.spec.hostname is not None:
            settings = {**settings, "hostname": node.spec.hostname}
        if files:
            settings = {**settings, "files": files}
        if node.spec.pid_namespace:
            settings = {**settings, "pid_namespace": True}
        settings = {**settings, **_limits(node.spec), **_root(node.spec), **_credentials(node.spec)}
        if settings:
            found[index] = {**found[index], "settings": settings}
    return found, list({(each.span, each.message): each for each in problems}.values())


def _limits(node: NodeSpec) -> HostSettings:
    settings: HostSettings = {}
    if node.cpu is not None:
        settings = {**settings, "cpu_millicores": max(1, round(node.cpu * 1000))}
    return settings if node.memory is None else {**settings, "memory_bytes": node.memory.bytes}


def _root(node: NodeSpec) -> HostSettings:
    if node.rootfs is not None:
        root: HostRoot = {"directories": [node.rootfs]}
    elif node.image is not None:
        root = {"directories": [], "image": node.image}
    else:
        return {}
    return {"root": {**root, "keep_files": True} if node.keep_files else root}


def _credentials(node: NodeSpec) -> HostSettings:
    settings: HostSettings = {} if node.user is None else {"user": node.user}
    if node.capabilities is None:
        return settings
    return {**settings, "capabilities": sorted({CAPABILITIES.index(each) for each in node.capabilities})}


def _ambiguous_names(scenario: Scenario, network: Network) -> list[Diagnostic]:
    """Host names that several nodes have: each stands for one in ``/etc/hosts``."""
    owners = {name: node.name for node in network.nodes for name in (node.name, *node.aliases)}
    problems = []
    for node in network.nodes:
        name = node.spec.hostname if node.of is None else None
        if name is None:
            continue
        owner = owners.setdefault(name, node.name)
        if owner != node.name:
            message = f'"{name}" is also the name of {owner}'
            path = (*node.path, "hostname")
            problems.append(
                scenario.problem(Code.HOST_SETTINGS_INVALID, path, message, "write another host name")
            )
    return problems


def _launches(scenario: Scenario, network: Network) -> Iterator[Diagnostic]:
    """Programs that span hosts and start on one whose PID namespace the launch agent cannot leave."""
    for name, program in scenario.document.programs.items():
        first, *others = program_hosts(program) if program.hosts and program.run else [None]
        if first is None or not others or not network.nodes[network.node_index[first]].spec.pid_namespace:
            continue
        yield scenario.problem(
            Code.HOST_SETTINGS_INVALID,
            ("programs", name, "hosts"),
            f"host {first} has its own PID namespace and cannot start ranks on others",
            "list another host first",
        )


def _files(scenario: Scenario, node: NamedNode, inputs: Inputs) -> tuple[list[HostFile], list[Diagnostic]]:
    files: list[HostFile] = []
    problems = []
    for target, source in node.spec.files.items():
        path = (*node.path, "files", target)
        below = next((other for other in node.spec.files if target.startswith(f"{other}/")), None)
        if below is not None:
            message = f"{below} is a file of the host, and has no files in it"
            problems.append(scenario.problem(Code.HOST_SETTINGS_INVALID, path, message, "name another place"))
            continue
        try:
            content = inputs.host_file(source)
        except ScenarioValueError as error:
            problems.append(scenario.problem(error.code, path, error.message, error.remedy))
            continue
        found: HostFile = {
            "target": target,
            "source": source,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        files.append({**found, "executable": True} if content.startswith(_PROGRAMS) else found)
    return files, problems
