"""Names that a scenario defines: of nodes, links and programs, and its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from longhaul.scenario.model import Background, Bulk, Document, Pcap, Program, Replay
from longhaul.scenario.model.metrics import Unit, catalogue, is_swept, unknown_metric
from longhaul.scenario.model.traffic import Flow
from longhaul.scenario.syntax.ranges import expand, expand_all
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, Node, Path

if TYPE_CHECKING:
    from longhaul.scenario.model.sweep import Sweep


def expand_nodes(document: Document) -> dict[str, str]:
    """Name of each node, in the order of the file, with the key that it was written under."""
    return {name: key for key in document.nodes for name in expand(key)}


def machine_named(document: Document, key: str) -> str | None:
    """The machine of the nodes of ``key``, by their ``place:`` or by their router's; ``None`` if open."""
    node = document.nodes[key]
    router = None if node.attach is None else expand_nodes(document).get(node.attach)
    return node.place or (None if router is None else document.nodes[router].place)


def attachment_name(host: str, router: str) -> str:
    """The name of the link that ``attach`` makes; forward is from the host to the router."""
    return f"{host}-{router}"


def handovers(document: Document) -> list[tuple[str, str]]:
    """Hosts, and routers that events let them move to, each pair once, in order of the events."""
    pairs = (
        (host, event.attach)
        for event in document.events
        if event.attach is not None
        for host in event.host or ()
    )
    return list(dict.fromkeys(pairs))


def interface_names(
    hosts: Collection[str], links: Mapping[str, tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """The interfaces of those ``hosts`` that are the end of several ``links``, by host and link.

    Each is called ``HOST.NEIGHBOUR``, or ``HOST.LINK`` where several links lead to the same neighbour.
    """
    reaching = Counter(end for ends in links.values() for end in ends)
    parallel = Counter(frozenset(ends) for ends in links.values())
    return {
        (host, link): f"{host}.{link if parallel[frozenset(ends)] > 1 else neighbour}"
        for link, ends in links.items()
        for host, neighbour in (ends, ends[::-1])
        if reaching[host] > 1 and host in hosts
    }


def program_hosts(program: Program) -> tuple[str, ...]:
    """The hosts of a program, ranges expanded."""
    texts = (program.host,) if program.host else (program.hosts or program.each or ())
    return tuple(dict.fromkeys(name for text in texts if text for name in expand(text)))


def traffic_pairs(flow: Flow) -> tuple[tuple[str, str], ...]:
    """Who sends to whom: one host to each other, several to one, or several to as many, in order."""
    sources, targets = expand_all(flow.source), expand_all(flow.to)
    if len(sources) == 1:
        sources *= len(targets)
    elif len(targets) == 1:
        targets *= len(sources)
    return tuple(zip(sources, targets, strict=False))


def program_copies(name: str, program: Program) -> list[str]:
    """The programs of a plan that ``program`` becomes: one, or ``NAME.HOST`` for each host with ``each``."""
    return [f"{name}.{host}" for host in program_hosts(program)] if program.each else [name]


def kinds_and_ends(document: Document) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Of each traffic, its kind as metrics know it, and where it goes."""
    return {
        name: ("udp", (flow.link,))
        if isinstance(flow, Background)
        else ("replay", (flow.file,))
        if isinstance(flow, Replay)
        else ("pcap", tuple(f"{source}.{to}" for source, to in flow.pairs()))
        if isinstance(flow, Pcap)
        else ("transfer" if isinstance(flow, Bulk) and flow.bytes else flow.kind, _ends(flow))
        for name, flow in document.traffic.items()
    }


def _ends(flow: Flow) -> tuple[str, ...]:
    """Where a flow goes, with the source in front if there are several."""
    several = len(expand_all(flow.source)) > 1
    return tuple(f"{source}.{to}" if several else to for source, to in traffic_pairs(flow))


def metrics_of(document: Document, *, links: Iterable[str]) -> dict[str, Unit]:
    """Every metric of a scenario whose links have these names, with its unit."""
    programs = {
        each: program.metrics
        for name, program in document.programs.items()
        for each in program_copies(name, program)
    }
    return catalogue(programs=programs, traffic=kinds_and_ends(document), links=links)


def unknown_sweep_metrics(
    sweep: Sweep, variants: Iterable[tuple[Document, Iterable[str]]], *, live: bool = False
) -> Iterator[tuple[Path, str, str]]:
    """Which metrics that a sweep asks for are measured in none of its variants: where, what, and a remedy.

    ``variants`` are documents, each with its metrics. ``live``: trials are live runs.
    """
    swept: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    for document, metrics in variants:
        simulated = {name for name, program in document.programs.items() if program.simulate}
        for metric in metrics:
            (swept if is_swept(metric, programs=simulated, live=live) else elsewhere)[metric] = None
    asked: list[tuple[Path, str]] = []
    if "metrics" in sweep.model_fields_set:
        asked += [(("sweep", "metrics", place), each) for place, each in enumerate(sweep.metrics)]
    if sweep.until:
        asked.append((("sweep", "until", "metric"), sweep.until.metric))
    for path, pattern in asked:
        wrong = unknown_metric(pattern, swept, elsewhere=elsewhere)
        if wrong:
            yield path, *wrong


_NAMING = (
    "from",
    "to",
    "addresses",
    "direction",
    "kind",
    "link",
    "file",
    "host",
    "hosts",
    "each",
    "simulate",
)
"""Keys of traffic and programs on which the names of metrics depend."""


def may_rename(tree: Branch, axes: Iterable[str]) -> bool:
    """Whether variants may have metrics that the scenario by itself does not have."""
    varied = set(axes)
    if "topology" in tree.entries or any(
        axis.startswith("nodes.") or axis.rpartition(".")[2] in _NAMING for axis in varied
    ):
        return True
    found = [tree.entries[key][1] for key in ("nodes",) if key in tree.entries]
    for section in ("traffic", "programs"):
        branch = tree.entries[section][1] if section in tree.entries else None
        for _place, item in branch.entries.values() if isinstance(branch, Branch) else ():
            if isinstance(item, Branch):
                found += [each for key, (_at, each) in item.entries.items() if key in _NAMING]
    return any(not varied.isdisjoint(_parameters(node)) for node in found)


def _parameters(node: Node) -> Iterator[str]:
    """The parameters that values in ``node`` came from."""
    if isinstance(node, Leaf):
        if node.parameter:
            yield node.parameter
        return
    inner = node.items if isinstance(node, Items) else [each for _place, each in node.entries.values()]
    for each in inner:
        yield from _parameters(each)
