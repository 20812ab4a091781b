"""docker-compose files: services as hosts, their networks as routers between them."""

import re
import shlex
from pathlib import Path

from longhaul.importers.draft import Engine, Lab, number
from longhaul.importers.yaml_file import entries, get, items, line, pairs, read_lab, text
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Node

_SILENT = ("container_name", "labels", "restart", "tty", "stdin_open", "init", "logging", "stop_grace_period")
"""Keys of services that have no meaning for packets."""
_VARIABLE = re.compile(r"\$(\$|\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?[^}]*\}|([A-Za-z_][A-Za-z0-9_]*))")

_SEPARATORS: dict[Engine, str] = {"docker": "-", "podman": "_"}
"""Between project, service and number in a container's name: of docker compose, and of podman-compose."""


def read_compose(content: bytes, *, path: Path, containers: Engine | None = None) -> Lab:
    """The lab in ``content``. Raises LonghaulError.

    ``containers``: hosts are the containers that this engine's compose starts, in place of programs.
    """
    file = path.name
    root = read_lab(file, content)
    project = text(get(root, "name"), path.absolute().parent.name)
    title = project if containers else file.removesuffix(".yaml").removesuffix(".yml")
    lab = Lab("docker-compose", file, text(get(root, "name"), title))
    services = {name: (at, node) for name, at, node in entries(get(root, "services"))}
    for key, at, _each in entries(root):
        known = key in ("name", "services", "networks", "version") or key.startswith("x-")
        if not known and not containers:
            lab.leave_out(at, key)
    used: dict[str, list[tuple[str, int | None]]] = {}
    for name, (at, node) in services.items():
        lab.add_node(name, "host", line=at)
        networks = get(node, "networks")
        if text(get(node, "network_mode")) and not containers:
            lab.leave_out(line(get(node, "network_mode")), f'network_mode of "{name}"')
        names = [key for key, _at, _each in entries(networks)] or [text(each) for each in items(networks)]
        for network in names or ["default"]:
            used.setdefault(network, []).append((name, line(networks) or at))
    for key, at, each in entries(get(root, "networks")):
        for option, where, _value in entries(each):
            if option not in ("name", "labels") and not containers:
                lab.leave_out(where, f'{option} of network "{key}"')
        if key not in used:
            lab.leave_out(at, f'network "{key}", which no service uses')
    for network, members in used.items():
        router = f"{network}-network"
        lab.add_node(router, "router", note="a network of docker: a bridge")
        for name, where_used in members:
            lab.add_link((name, router), {"delay": "50us"}, line=where_used)
    for name, (at, node) in services.items():
        if containers:
            _add_container(lab, name, node, project=project, engine=containers, line_of_service=at)
        else:
            _add_service(lab, name, node)
    return lab


def _add_container(
    lab: Lab, name: str, node: Node, *, project: str, engine: Engine, line_of_service: int | None
) -> None:
    """The first container of a service, with everything that is its own."""
    mode = get(node, "network_mode")
    if text(mode) == "host" or text(mode).startswith(("service:", "container:")):
        raise lab.wrong(
            line(mode),
            f'network_mode "{text(mode)}" of "{name}": the container has no network of its own',
            "remove network_mode, or import without --containers",
        )
    replicas = get(get(node, "deploy"), "replicas") or get(node, "scale")
    if (number(text(replicas)) or 1) > 1:
        lab.leave_out(line(replicas), f'all containers of "{name}" but the first')
    plain = re.sub(r"[^-_a-z0-9]", "", project.lower()).lstrip("-_")
    made_up = _SEPARATORS[engine].join((plain, name, "1"))
    called = _substituted(lab, text(get(node, "container_name")), line_of_service) or made_up
    lab.ports[name] = f"{engine}:{called}"


def _add_service(lab: Lab, name: str, node: Node) -> None:
    where = line(get(node, "environment"))
    env = {key: _substituted(lab, value, where) for key, value in pairs(get(node, "environment")).items()}
    command = [*_words(lab, get(node, "entrypoint")), *_words(lab, get(node, "command"))]
    if command:
        program = {"run": command, "host": name, "service": True, "expect_exit": "any"}
        ports = [*_ports(get(node, "ports")), *_ports(get(node, "expose"))]
        if ports:
            program["ready"] = f"tcp:{ports[0]}"
        lab.programs[f"{name}-service"] = {**program, "env": env} if env else program
    for key, at, value in entries(node):
        if key in (*_SILENT, "command", "entrypoint", "networks", "network_mode"):
            continue
        if key == "environment" and (command or not env):
            continue
        if key in ("ports", "expose"):
            if any(":" in text(each) for each in items(value)) or isinstance(value, Branch):
                lab.leave_out(
                    at, f'published ports of "{name}": hosts reach each other at the container\'s ports'
                )
            continue
        if key == "depends_on":
            if not command:
                lab.leave_out(at, f'depends_on of "{name}"')
            continue
        if key == "image":
            what = "" if command else ", and its command; write a program for it"
            lab.leave_out(
                at, f'image "{text(value)}" of "{name}"{what}; hosts have the files of this machine'
            )
            continue
        if key == "deploy":
            for option, where, _each in entries(value):
                lab.leave_out(where, f'deploy.{option} of "{name}"')
            continue
        lab.leave_out(at, f'{key} of "{name}"')


def _words(lab: Lab, node: Node | None) -> list[str]:
    if isinstance(node, Items):
        return [_substituted(lab, text(each), line(each)) for each in node.items]
    written = _substituted(lab, text(node), line(node))
    try:
        return shlex.split(written)
    except ValueError as error:
        raise lab.wrong(
            line(node), f"a command cannot be split into words: {error}", "close the quotes"
        ) from None


def _substituted(lab: Lab, written: str, at: int | None) -> str:
    """Text with the defaults of its variables; others are empty, as of docker compose."""

    def value(found: re.Match[str]) -> str:
        if found[1] == "$":
            return "$"
        if found[3] is None:
            lab.leave_out(at, f"the value of the variable {found[2] or found[4]}, which is empty here")
        return found[3] or ""

    return _VARIABLE.sub(value, written)


def _ports(node: Node | None) -> list[int]:
    """The containers' TCP ports."""
    found = []
    for each in items(node):
        written = text(get(each, "target")) if isinstance(each, Branch) else text(each)
        port, _slash, protocol = written.rpartition(":")[2].partition("/")
        value = number(port.partition("-")[0])
        if value and protocol in ("", "tcp") and 1 <= value <= 65_535:
            found.append(int(value))
    return found
