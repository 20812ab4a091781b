"""Kollaps topologies: services, bridges, links, and a schedule of changes (Gouveia et al., EuroSys 2020)."""

import shlex
from ast import literal_eval
from typing import Any

from longhaul.importers.draft import Lab, delay_model, number, rate_bits, rate_text, share_text
from longhaul.scenario.expand.topologies.xml import Element
from longhaul.units.quantities import Span

_LINK_KEYS = ("latency", "jitter", "drop", "upload", "download")


def read_kollaps(root: Element, *, file: str) -> Lab:
    """The experiment below ``root``. Raises LonghaulError."""
    lab = Lab("Kollaps", file, file.rpartition(".")[0] or "experiment")
    groups: dict[str, list[str]] = {}
    for service in (each for part in root.all("services") for each in part.all("service")):
        _add_service(lab, service, groups)
    for bridge in (each for part in root.all("bridges") for each in part.all("bridge")):
        name = _attribute(lab, bridge, "name")
        lab.add_node(name, "router", line=bridge.line)
        groups[name] = [name]
    positions: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    for link in (each for part in root.all("links") for each in part.all("link")):
        _add_links(lab, link, groups, positions)
    for part in root.all("dynamic"):
        for event in part.all("schedule"):
            _add_event(lab, event, groups, positions)
    return lab


def _attribute(lab: Lab, element: Element, name: str) -> str:
    if not element.attributes.get(name):
        raise lab.wrong(element.line, f'<{element.tag}> has no "{name}"', "add it")
    return element.attributes[name]


def _figure(lab: Lab, element: Element, name: str) -> float:
    value = number(_attribute(lab, element, name))
    if value is None:
        raise lab.wrong(
            element.line, f'{name} "{element.attributes[name]}" is not a number', "write one like 10"
        )
    return value


def _add_service(lab: Lab, service: Element, groups: dict[str, list[str]]) -> None:
    name = _attribute(lab, service, "name")
    if service.attributes.get("supervisor") == "true":
        lab.leave_out(service.line, f'the supervisor "{name}": longhaul ui shows a run')
        return
    count = int(_figure(lab, service, "replicas")) if "replicas" in service.attributes else 1
    groups[name] = [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]
    for each in groups[name]:
        lab.add_node(each, "host", line=service.line)
    if image := service.attributes.get("image"):
        lab.leave_out(service.line, f'image "{image}" of "{name}"; hosts have the files of this machine')
    for key in service.attributes.keys() - {"name", "image", "replicas", "supervisor", "port"}:
        lab.leave_out(service.line, f'{key} "{service.attributes[key]}" of "{name}"{_hint(key, service)}')


def _hint(key: str, service: Element) -> str:
    """What a command has: arguments of the image's entry point, which is not here."""
    if key != "command":
        return ""
    try:
        words = literal_eval(service.attributes[key])
        text = shlex.join(map(str, words)) if isinstance(words, list) else ""
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        text = ""
    return f": arguments of its image's entry point{f' ({text})' if text else ''}"


def _models(lab: Lab, link: Element) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Settings of a link there, and back; ``None``: there is no way back."""
    given = link.attributes
    common: dict[str, Any] = {}
    if "latency" in given or "jitter" in given:
        latency = _figure(lab, link, "latency") if "latency" in given else 0.0
        jitter = _figure(lab, link, "jitter") if "jitter" in given else 0.0
        common["delay"] = delay_model(round(latency * 1e6), round(jitter * 1e6), normal=True)
    if "drop" in given:
        drop = _figure(lab, link, "drop")
        if drop > 1:
            raise lab.wrong(
                link.line, f'drop "{given["drop"]}" is more than 1', "write a share, such as 0.01"
            )
        common |= {"loss": share_text(drop)} if drop else {}
    rates = {}
    for key in ("upload", "download"):
        if key in given:
            bits = rate_bits(given[key], bare=1.0)
            if not bits:
                raise lab.wrong(link.line, f'{key} "{given[key]}" is not a rate', "write one like 10Mbps")
            rates[key] = {"rate": rate_text(bits)}
    there = {**common, **rates.get("upload", {})}
    return there, ({**common, **rates["download"]} if "download" in rates else None)


def _add_links(
    lab: Lab,
    link: Element,
    groups: dict[str, list[str]],
    positions: dict[tuple[str, str], list[tuple[int, bool]]],
) -> None:
    origin, dest = _attribute(lab, link, "origin"), _attribute(lab, link, "dest")
    for end in (origin, dest):
        if end not in groups:
            raise lab.wrong(
                link.line, f'a link ends at "{end}", which is not a service or bridge', "correct the name"
            )
    there, back = _models(lab, link)
    for key in link.attributes.keys() - {"origin", "dest", "network", *_LINK_KEYS}:
        lab.leave_out(link.line, f'{key} of the link from "{origin}" to "{dest}"')
    for source in groups[origin]:
        for target in groups[dest]:
            opposite = next((place for place, way in positions.get((target, source), ()) if way), None)
            if back is None and opposite is not None and "reverse" not in lab.links[opposite]:
                lab.links[opposite]["reverse"] = there
                positions.setdefault((source, target), []).append((opposite, False))
                continue
            settings = (
                there
                if back == there
                else {"forward": there}
                if back is None
                else {"forward": there, "reverse": back}
            )
            place = lab.add_link((source, target), settings, line=link.line)
            positions.setdefault((source, target), []).append((place, True))
            if back is not None:
                positions.setdefault((target, source), []).append((place, False))


def _add_event(
    lab: Lab,
    event: Element,
    groups: dict[str, list[str]],
    positions: dict[tuple[str, str], list[tuple[int, bool]]],
) -> None:
    at_ns = round(_figure(lab, event, "time") * 1e9)
    action, name = event.attributes.get("action", ""), event.attributes.get("name")
    if name is not None:
        if name not in groups:
            raise lab.wrong(event.line, f'"{name}" is not a service or bridge', "correct the name")
        amount = int(_figure(lab, event, "amount")) if "amount" in event.attributes else len(groups[name])
        chosen = groups[name][:amount]
        links = [place for place, link in enumerate(lab.links) if set(link["endpoints"]) & set(chosen)]
        if not links:
            lab.leave_out(event.line, f'action "{action}" of "{name}"')
        elif action in ("join", "leave", "crash"):
            if action != "join":
                lab.leave_out(event.line, f'{action} of "{name}": its programs run on, without a network')
            lab.events.append({"at_ns": at_ns, "node": chosen, "join" if action == "join" else "leave": True})
        elif action in ("reconnect", "disconnect"):
            lab.events.append(
                {"at_ns": at_ns, "link": links, "up" if action == "reconnect" else "down": True}
            )
        else:
            lab.leave_out(event.line, f'action "{action}" of "{name}"')
        return
    ends = (_attribute(lab, event, "origin"), _attribute(lab, event, "dest"))
    found = [
        place
        for source in groups.get(ends[0], ())
        for target in groups.get(ends[1], ())
        for place in positions.get((source, target), ())
    ]
    if not found:
        lab.leave_out(event.line, f'a change of the link from "{ends[0]}" to "{ends[1]}", which is not there')
        return
    if action in ("join", "leave"):
        places = sorted({place for place, _way in found})
        lab.events.append({"at_ns": at_ns, "link": places, action: True})
        return
    there, back = _models(lab, event)
    for place, way in found:
        both = back == there or (back is None and not _is_one_way(lab.links[place]) and "rate" not in there)
        for model, forward in ((there, way), (back, not way)):
            if model and not (both and model is back):
                direction = {} if both else {"direction": "forward" if forward else "reverse"}
                lab.events.append({"at_ns": at_ns, "link": [place], **direction, "set": model})


def _is_one_way(link: dict[str, Any]) -> bool:
    return "forward" in link and "reverse" not in link


__all__ = ["Span", "read_kollaps"]
