"""containerlab topologies: nodes with kinds, groups and defaults, and links between their interfaces."""

import re
import shlex

from longhaul.importers.draft import Engine, Lab, delay_model, number, rate_text, share_text, time_ns
from longhaul.importers.yaml_file import entries, get, items, line, pairs, read_lab, text
from longhaul.scenario.syntax.yaml_tree import Branch, Leaf, Node

_SWITCHES = ("bridge", "ovs-bridge")
_ROUTING = re.compile(
    r"(^|[/_-])(frr|frrouting|bird|gobgp|quagga|openbgpd|vyos|srlinux|crpd|holo)", re.IGNORECASE
)
"""Images of routing daemons."""
_SILENT = ("kind", "group", "position", "labels")
"""Keys of nodes that have no meaning for packets."""


def read_containerlab(
    content: bytes, *, file: str, netem: bytes | None = None, containers: Engine | None = None
) -> Lab:
    """The lab in ``content``; ``netem``: commands ``containerlab tools netem set``. Raises LonghaulError.

    ``containers``: hosts are the containers that containerlab starts, in place of programs.
    """
    root = read_lab(file, content)
    lab = Lab("containerlab", file, text(get(root, "name"), "lab"))
    topology = get(root, "topology")
    for key, at, _each in entries(root):
        if key not in ("name", "topology", "prefix"):
            lab.leave_out(at, key)
    for name, at, node in entries(get(topology, "nodes")):
        container = f"{containers}:{_container(root, lab.name, name)}" if containers else None
        _add_node(lab, topology, name, at, node, container)
    interfaces: dict[tuple[str, str], tuple[int, int]] = {}
    for link in items(get(topology, "links")):
        _add_link(lab, link, interfaces)
    if netem is not None:
        _apply_netem(lab, netem.decode("utf-8", "replace"), interfaces)
    return lab


def _container(root: Node, lab: str, node: str) -> str:
    """The name that containerlab gives the container of a node."""
    prefix = text(get(root, "prefix"), "clab")
    if not prefix:
        return node
    return f"{lab}-{node}" if prefix == "__lab-name" else f"{prefix}-{lab}-{node}"


def _settings(topology: Node | None, node: Node) -> dict[str, tuple[int, Node]]:
    """The keys of a node, with those of the defaults, its kind and its group."""
    own = {key: (at, each) for key, at, each in entries(node)}
    defaults = {key: (at, each) for key, at, each in entries(get(topology, "defaults"))}

    def chosen(key: str) -> str:
        return text(own[key][1] if key in own else defaults[key][1] if key in defaults else None)

    of_group = {key: (at, each) for key, at, each in entries(get(topology, "groups", chosen("group")))}
    kind = (
        text(own["kind"][1])
        if "kind" in own
        else text(of_group["kind"][1])
        if "kind" in of_group
        else chosen("kind")
    )
    of_kind = {key: (at, each) for key, at, each in entries(get(topology, "kinds", kind))}
    kind_leaf = {"kind": (node.place.line, Leaf(kind, kind, node.place))} if kind else {}
    return {**defaults, **of_kind, **of_group, **own, **kind_leaf}


def _add_node(lab: Lab, topology: Node | None, name: str, at: int, node: Node, container: str | None) -> None:
    found = _settings(topology, node)
    kind, image = (text(found[key][1]) if key in found else "" for key in ("kind", "image"))
    routes = bool(_ROUTING.search(image))
    if kind in _SWITCHES:
        lab.add_node(name, "router", line=at, note=f"{kind}: forwards IP packets, not frames")
    elif kind in ("linux", "", "host") and not routes:
        lab.add_node(name, "host", line=at)
    else:
        lab.add_node(name, "router", line=at, note=f"{kind or image}: shortest paths in place of its daemons")
    if container and lab.nodes[name] == "host":
        # Its image, commands and files are its own.
        lab.ports[name] = container
        return
    env = pairs(found["env"][1]) if "env" in found else {}
    is_host = lab.nodes[name] == "host"
    for key, (where, value) in found.items():
        if key in _SILENT or (key == "env" and (is_host or not env)):
            continue
        if key == "exec" and is_host:
            for position, command in enumerate(items(value), 1):
                _add_program(lab, name, f"{name}-exec-{position}", text(command), env, line(command) or where)
        elif key == "cmd" and is_host and text(value):
            _add_program(lab, name, f"{name}-cmd", text(value), env, where, service=True)
        elif key == "image":
            lab.leave_out(where, f'image "{image}" of "{name}"; hosts have the files of this machine')
        else:
            lab.leave_out(where, f'{key} of "{name}"')


def _add_program(
    lab: Lab, host: str, name: str, command: str, env: dict[str, str], at: int, *, service: bool = False
) -> None:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words or words[0] in ("ip", "ifconfig", "route", "sysctl", "tc"):
        why = "Longhaul assigns addresses and routes" if words else "it cannot be split into words"
        lab.leave_out(at, f'command "{command}" of "{host}": {why}')
        return
    program = {"run": words, "host": host, **({"env": env} if env else {})}
    lab.programs[name] = {**program, "service": True, "expect_exit": "any"} if service else program


def _add_link(lab: Lab, link: Node, interfaces: dict[tuple[str, str], tuple[int, int]]) -> None:
    at = line(link)
    kind = text(get(link, "type"), "veth")
    if kind != "veth":
        lab.leave_out(at, f"a link of type {kind}")
        return
    ends = [_end(lab, each) for each in items(get(link, "endpoints"))]
    if len(ends) != 2:
        raise lab.wrong(at, "a link does not have two endpoints", 'write endpoints: ["a:eth1", "b:eth1"]')
    outside = [
        node for node, _interface in ends if node in ("host", "mgmt-net", "macvlan") and node not in lab.nodes
    ]
    if outside:
        lab.leave_out(at, f"a link to {outside[0]}, which is outside of the lab")
        return
    settings = {}
    mtu = number(text(get(link, "mtu")))
    if mtu is not None:
        settings["mtu"] = max(576, min(int(mtu), 9000))
        if settings["mtu"] != mtu:
            lab.leave_out(at, f"MTU {mtu:g}: links have 576 to 9000 bytes")
    for key, where, _each in entries(link):
        if key not in ("endpoints", "type", "mtu", "labels"):
            lab.leave_out(where, f"{key} of a link")
    position = lab.add_link((ends[0][0], ends[1][0]), settings, line=at)
    for side, end in enumerate(ends):
        if end in interfaces:
            raise lab.wrong(at, f"interface {end[0]}:{end[1]} has two links", "name another interface")
        interfaces[end] = (position, side)


def _end(lab: Lab, endpoint: Node) -> tuple[str, str]:
    if isinstance(endpoint, Branch):
        return text(get(endpoint, "node")), text(get(endpoint, "interface"))
    node, colon, interface = text(endpoint).partition(":")
    if not colon:
        message = f'"{text(endpoint)}" does not name an interface'
        raise lab.wrong(line(endpoint), message, "write NODE:INTERFACE, such as r1:eth1")
    return node, interface


_FLAGS = {"-n": "node", "--node": "node", "-i": "interface", "--interface": "interface"}


def _apply_netem(lab: Lab, script: str, interfaces: dict[tuple[str, str], tuple[int, int]]) -> None:
    """Impairments of interfaces: of what their node sends."""
    for at, command in enumerate(script.splitlines(), 1):
        words = command.split("#")[0].split()
        if "netem" not in words or "set" not in words:
            continue
        given, rest = {}, words[words.index("set") + 1 :]
        while rest:
            name, equals, value = rest.pop(0).partition("=")
            given[_FLAGS.get(name, name.lstrip("-"))] = value if equals else rest.pop(0) if rest else ""
        node = given.pop("node", "").removeprefix(f"clab-{lab.name}-")
        place = interfaces.get((node, given.pop("interface", "")))
        if place is None:
            lab.leave_out(None, f'netem command {at}: "{command.strip()}" names no interface of a link')
            continue
        model = {}
        delay_ns = time_ns(given.pop("delay", "0"), bare=1e6)
        jitter_ns = time_ns(given.pop("jitter", "0"), bare=1e6)
        if delay_ns or jitter_ns:
            model["delay"] = delay_model(delay_ns or 0, jitter_ns or 0)
        for flag, key in (("loss", "loss"), ("corruption", "corrupt")):
            percent = number(given.pop(flag, "0").rstrip("%"))
            if percent:
                model[key] = share_text(min(percent, 100) / 100)
        kbit = number(given.pop("rate", "0"))
        if kbit:
            model["rate"] = rate_text(kbit * 1000)
        for flag in given:
            lab.leave_out(None, f'netem command {at}: option "{flag}"')
        position, side = place
        lab.links[position]["reverse" if side else "forward"] = model
