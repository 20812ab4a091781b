"""GraphML, as in the Internet Topology Zoo: Knight et al., IEEE JSAC 29(9), 2011."""

import re
from fractions import Fraction

from longhaul.scenario.expand.topologies.chart import Cable, Chart, Site, checked, known, number, place, wrong
from longhaul.scenario.expand.topologies.xml import Element

_PREFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NAMED = {
    "t1": 1_544_000,
    "ds1": 1_544_000,
    "e1": 2_048_000,
    "e3": 34_368_000,
    "t3": 44_736_000,
    "ds3": 44_736_000,
    "e4": 139_264_000,
    "fe": 100_000_000,
    "fastethernet": 100_000_000,
    "ge": 10**9,
    "gige": 10**9,
    "gbe": 10**9,
    "gigabitethernet": 10**9,
}
"""ANSI T1.107 and ITU-T G.702 (T1, E1, ...), IEEE 802.3."""
_OC_BITS = 51_840_000
"""SONET OC-1; OC-n is n times as fast (ANSI T1.105)."""
_STM_BITS = 155_520_000
"""SDH STM-1; STM-n is n times as fast (ITU-T G.707)."""

_TIMES = re.compile(r"([0-9]{1,3})[x*×](.+)")
_NUMBER = re.compile(
    r"[<>~≤≥]*([0-9]{1,9}(?:[.,][0-9]{1,6})?)([kmgt])(?:i?b(?:it|its)?(?:/s|ps|/sec)?|bits/s|ps|e|be|ige)?"
)
_LONG = re.compile(r"([0-9]{1,4}(?:\.[0-9]+)?)(giga|mega|kilo|tera)bit(?:s)?(?:/s|ps|ethernet|persecond)?")
_MULTIPLE = re.compile(r"(oc|stm)-?([0-9]{1,4})c?")


def speed(label: str) -> int | None:
    """Bits per second that ``label`` spells, such as ``OC-192c``, ``10 Gbps``, ``2xSTM-16``; None if none."""
    text = re.sub(r"\s+", "", label).lower()
    if times := _TIMES.fullmatch(text):
        each = speed(times[2])
        return None if each is None else int(times[1]) * each
    if multiple := _MULTIPLE.fullmatch(text):
        return int(multiple[2]) * (_OC_BITS if multiple[1] == "oc" else _STM_BITS) or None
    if long := _LONG.fullmatch(text):
        return int(Fraction(long[1]) * _PREFIX[long[2][0]]) or None
    if number := _NUMBER.fullmatch(text):
        return int(Fraction(number[1].replace(",", ".")) * _PREFIX[number[2]]) or None
    return _NAMED.get(text.replace("-", ""))


_LABELS = ("LinkSpeedRaw", "LinkSpeed", "LinkLabel", "LinkType", "LinkNote")
_WORDS = {
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "label": ("label", "name"),
}

Data = dict[str, str]


def read_graphml(root: Element, *, name: str) -> Chart:
    """The first graph below ``root``, a file called ``name``; raises :class:`LonghaulError`."""
    graph = root.first("graph")
    if graph is None:
        raise wrong(name, root.line, "has no graph", "take a file with <graph> in it")
    keys = _keys(root, name)
    sites: dict[str, Site] = {}
    for node in graph.all("node"):
        site = _site(node, _data(node, "node", keys), name)
        if site.key in sites:
            raise wrong(name, node.line, f'there are two nodes "{site.key}"', "rename one of them")
        sites[site.key] = site
    directed = graph.attributes.get("edgedefault") == "directed"
    cables = []
    for edge in graph.all("edge"):
        source, target = (
            known(_attribute(edge, end, name), sites, name=name, line=edge.line, what=f"the {end}")
            for end in ("source", "target")
        )
        bits_per_s, origin = _speed(_data(edge, "edge", keys))
        one_way = edge.attributes.get("directed", str(directed).lower()) == "true"
        cables.append(Cable((source, target), bits_per_s, origin, one_way))
    for position, hyperedge in enumerate(graph.all("hyperedge")):
        hub = Site(f"hyperedge {position}", hyperedge.attributes.get("id", f"hub {position}"), None, hub=True)
        sites[hub.key] = hub
        for endpoint in hyperedge.all("endpoint"):
            end = _attribute(endpoint, "node", name)
            known(end, sites, name=name, line=endpoint.line, what="the endpoint")
            cables.append(Cable((hub.key, end), None, ""))
    told = _data(graph, "graph", keys)
    title = told.get("Network") or told.get("label") or graph.attributes.get("id", "")
    return checked(Chart(title, "GraphML", tuple(sites.values()), tuple(cables)), name=name)


def _keys(root: Element, name: str) -> dict[str, tuple[str, str, str | None]]:
    """Of each key: what it is for, what it is called, and its default."""
    return {
        _attribute(key, "id", name): (
            key.attributes.get("for", "all"),
            key.attributes.get("attr.name", key.attributes["id"]),
            key.word("default") or None,
        )
        for key in root.all("key")
    }


def _data(element: Element, kind: str, keys: dict[str, tuple[str, str, str | None]]) -> Data:
    found = {
        called: default
        for owner, called, default in keys.values()
        if default is not None and owner in (kind, "all")
    }
    for data in element.all("data"):
        key = data.attributes.get("key", "")
        called = keys[key][1] if key in keys else key
        found[called] = data.text.strip()
    return found


def _site(node: Element, data: Data, name: str) -> Site:
    key = _attribute(node, "id", name)
    lowered = {called.lower(): text for called, text in data.items()}
    words = {
        what: next((lowered[each] for each in spellings if lowered.get(each)), "")
        for what, spellings in _WORDS.items()
    }
    hub = lowered.get("hyperedge") in ("1", "true")
    if bool(words["latitude"]) != bool(words["longitude"]):
        missing = "latitude" if words["longitude"] else "longitude"
        raise wrong(name, node.line, f'node "{key}" has no {missing}', "write both, or neither")
    at = None
    if words["latitude"]:
        latitude, longitude = (
            number(words[what], name=name, line=node.line, what=f'the {what} of node "{key}",')
            for what in ("latitude", "longitude")
        )
        at = place(latitude, longitude, name=name, line=node.line, who=f'node "{key}"')
    return Site(key, words["label"] or key, at, hub)


def _speed(data: Data) -> tuple[int | None, str]:
    """Bit/s, and the words that say so; with the words alone if they say no rate."""
    raw = data.get("LinkSpeedRaw", "")
    try:
        bits_per_s = int(float(raw or 0))
    except (ValueError, OverflowError):
        bits_per_s = 0
    if bits_per_s > 0:
        return bits_per_s, f"LinkSpeedRaw {raw}"
    spelt = {
        **data,
        "LinkSpeed": data.get("LinkSpeed", "") + data.get("LinkSpeedUnits", ""),
    }
    for label in _LABELS[1:]:
        found = speed(spelt.get(label, ""))
        if found:
            return found, f'{label} "{spelt[label]}"'
    words = next((f'{label} "{data[label]}" is not a rate' for label in _LABELS[2:] if data.get(label)), "")
    return None, words


def _attribute(element: Element, attribute: str, name: str) -> str:
    if attribute not in element.attributes:
        raise wrong(name, element.line, f'<{element.tag}> has no "{attribute}"', "add it")
    return element.attributes[attribute]
