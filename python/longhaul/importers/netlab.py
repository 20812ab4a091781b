"""netlab topologies, where they are simple: nodes, groups, and links with bandwidth, MTU and impairments."""

from typing import Any

from longhaul.importers.draft import Lab, delay_model, number, rate_text, share_text, time_ns
from longhaul.importers.yaml_file import entries, get, items, line, read_lab, text
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Node

_HOSTS = ("linux", "none")
_ATTRIBUTES = ("bandwidth", "mtu", "tc", "name", "type", "linkname", "_linkname", "interfaces")


def read_netlab(content: bytes, *, file: str) -> Lab:
    """The lab in ``content``. Raises LonghaulError."""
    root = read_lab(file, content)
    lab = Lab("netlab", file, text(get(root, "name"), file.rpartition(".")[0] or "lab"))
    default = text(get(root, "defaults", "device")) or text(get(root, "defaults.device"))
    of_group = {
        text(member): text(get(group, "device"))
        for _name, _at, group in entries(get(root, "groups"))
        for member in items(get(group, "members"))
    }
    nodes = get(root, "nodes")
    listed: list[tuple[str, int | None, Node | None]] = [
        (name, at, node) for name, at, node in entries(nodes)
    ]
    if isinstance(nodes, Items):
        listed = [
            (text(get(each, "name")), line(each), each)
            if isinstance(each, Branch)
            else (text(each), line(each), None)
            for each in nodes.items
        ]
    for name, at, node in listed:
        device = text(get(node, "device")) or of_group.get(name, "") or default
        is_host = device in _HOSTS or text(get(node, "role")) == "host"
        note = "" if is_host else f"{device or 'a device'}: shortest paths in place of its configuration"
        lab.add_node(name, "host" if is_host else "router", line=at, note=note)
        for key, where, _each in entries(node):
            if key not in ("device", "name", "role", "id"):
                lab.leave_out(where, f'{key} of "{name}"')
    for key, at, _each in entries(root):
        if key not in ("name", "nodes", "links", "groups", "defaults", "defaults.device", "provider"):
            lab.leave_out(at, key)
    for number_of_link, link in enumerate(items(get(root, "links")), 1):
        _add_link(lab, link, number_of_link)
    return lab


def _add_link(lab: Lab, link: Node, position: int) -> None:
    at = line(link)
    ends: list[str]
    settings: dict[str, Any] = {}
    if isinstance(link, Branch):
        ends = [key for key, _at, _each in entries(link) if key in lab.nodes]
        for interface in items(get(link, "interfaces")):
            ends.append(text(get(interface, "node")) if isinstance(interface, Branch) else text(interface))
        settings = _settings(lab, link)
        for key, where, _each in entries(link):
            if key not in _ATTRIBUTES and key not in lab.nodes:
                lab.leave_out(where, f"{key} of a link")
    elif isinstance(link, Items):
        ends = [text(each) for each in link.items]
    else:
        ends = _split(lab, text(link))
    if len(ends) < 2:
        lab.leave_out(at, f'a stub link of "{", ".join(ends)}"')
        return
    if len(ends) == 2:
        lab.add_link((ends[0], ends[1]), settings, line=at)
        return
    hub = f"lan-{position}"
    lab.add_node(hub, "router", line=at, note="a link of several nodes")
    for end in ends:
        lab.add_link((end, hub), settings, line=at)


def _split(lab: Lab, written: str) -> list[str]:
    """Both nodes of ``a-b``; names may have hyphens."""
    for place, character in enumerate(written):
        if character == "-" and written[:place] in lab.nodes and written[place + 1 :] in lab.nodes:
            return [written[:place], written[place + 1 :]]
    return written.split("-")


def _settings(lab: Lab, link: Node) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    bandwidth = number(text(get(link, "bandwidth")))
    if bandwidth:
        settings["rate"] = rate_text(bandwidth * 1000)
    mtu = number(text(get(link, "mtu")))
    if mtu and 576 <= mtu <= 9000:
        settings["mtu"] = int(mtu)
    elif mtu:
        lab.leave_out(line(get(link, "mtu")), f"MTU {mtu:g}: links have 576 to 9000 bytes")
    tc = get(link, "tc")
    delay_ns, jitter_ns = (time_ns(text(get(tc, key), "0"), bare=1e6) or 0 for key in ("delay", "jitter"))
    if delay_ns or jitter_ns:
        settings["delay"] = delay_model(delay_ns, jitter_ns)
    for key, called in (("loss", "loss"), ("corrupt", "corrupt"), ("duplicate", "duplicate")):
        percent = number(text(get(tc, key), "0").rstrip("%"))
        if percent:
            settings[called] = share_text(min(percent, 100) / 100)
    kbit = number(text(get(tc, "rate"), "0"))
    if kbit:
        settings["rate"] = rate_text(kbit * 1000)
    for key, where, _each in entries(tc):
        if key not in ("delay", "jitter", "loss", "corrupt", "duplicate", "rate"):
            lab.leave_out(where, f"tc.{key} of a link")
    return settings
