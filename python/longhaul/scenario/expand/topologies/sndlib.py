"""SNDlib's two formats: Orlowski, Wessäly, Pióro, Tomaszewski, Networks 55(3), 2010."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from longhaul.scenario.expand.topologies.chart import (
    Cable,
    Chart,
    Demand,
    Site,
    checked,
    known,
    number,
    place,
    wrong,
)
from longhaul.scenario.expand.topologies.xml import Element
from longhaul.units.quantities import Rate

MARK = b"?SNDlib native format"
"""How the native format begins."""
_MEGABIT = 10**6
_META_UNITS = {"MBITPERSEC": _MEGABIT, "KBITPERSEC": 10**3, "GBITPERSEC": 10**9, "BITPERSEC": 1}


@dataclass(frozen=True)
class _Token:
    text: str
    line: int


@dataclass(frozen=True)
class _Group:
    """What stands between parentheses."""

    items: "tuple[_Token | _Group, ...]"
    line: int


_Item = _Token | _Group


@dataclass(frozen=True)
class _Unit:
    """What a capacity or demand of one is, in bit/s; units are not in most files."""

    bits_per_s: int
    note: str | None


def read_native(content: bytes, *, name: str, unit: Rate | None = None) -> Chart:
    """The network in ``content``, a file called ``name``; raises :class:`LonghaulError`.

    A capacity of one is ``unit``; what the file says itself, or 1 Mbit/s, if left out.
    """
    text = content.decode("utf-8-sig", errors="replace")
    head, _newline, body = text.partition("\n")
    if "type: network" not in head:
        message = f'"{head.strip()}" is not a network'
        raise wrong(name, 1, message, "take the file that begins with type: network")
    title = re.search(r"^#\s*network\s+(\S+)\s*$", body, re.MULTILINE)
    sections = _sections(body, name)
    meta = " ".join(
        each.text for each in sections.get("META", _Group((), 1)).items if isinstance(each, _Token)
    )
    stated = re.search(r"\bunit = (\w+)", meta)
    scale = _unit(unit, stated[1] if stated else None)
    sites: dict[str, Site] = {}
    for first, others in _entries(sections.get("NODES"), name):
        key = first.text
        at = None
        if groups := [each for each in others if isinstance(each, _Group)]:
            longitude, latitude = _numbers(groups[0], 2, f'the coordinates of "{key}"', name)
            at = place(latitude, longitude, name=name, line=first.line, who=f'node "{key}"')
        if key in sites:
            raise wrong(name, first.line, f'there are two nodes "{key}"', "rename one of them")
        sites[key] = Site(key, key, at)
    cables = []
    for first, others in _entries(sections.get("LINKS"), name):
        ends = _ends(first, others, sites, name)
        installed = _value(first, others, 1, "the capacity", name) if len(others) > 1 else Fraction(0)
        modules = [each for each in others[1:] if isinstance(each, _Group)]
        capacities = _numbers(modules[0], None, "a module", name)[::2] if modules else []
        cables.append(_cable(ends, installed, [Fraction(each) for each in capacities], scale))
    demands = tuple(
        Demand(
            _ends(first, others, sites, name), _value(first, others, 2, "the demand", name) * scale.bits_per_s
        )
        for first, others in _entries(sections.get("DEMANDS"), name)
    )
    notes = (scale.note,) if scale.note else ()
    called = title[1] if title else ""
    chart = Chart(called, "SNDlib, native", tuple(sites.values()), tuple(cables), demands, notes)
    return checked(chart, name=name)


def read_xml_network(root: Element, *, name: str, unit: Rate | None = None) -> Chart:
    """The network below ``root``, a file called ``name``; raises :class:`LonghaulError`."""
    scale = _unit(unit, root.word("meta", "unit") or None)
    structure = root.first("networkStructure") or Element("networkStructure", {}, root.line)
    nodes = structure.first("nodes") or Element("nodes", {}, root.line)
    on_globe = nodes.attributes.get("coordinatesType", "geographical") == "geographical"
    sites: dict[str, Site] = {}
    for node in nodes.all("node"):
        key = node.attributes.get("id", "")
        at = None
        if on_globe and node.first("coordinates"):
            longitude, latitude = (
                number(
                    node.word("coordinates", axis),
                    name=name,
                    line=node.line,
                    what=f'coordinate {axis} of "{key}",',
                )
                for axis in ("x", "y")
            )
            at = place(latitude, longitude, name=name, line=node.line, who=f'node "{key}"')
        if key in sites or not key:
            message = f'there are two nodes "{key}"' if key else "a node has no id"
            raise wrong(name, node.line, message, "give each node an id of its own")
        sites[key] = Site(key, key, at)
    cables = []
    for link in (structure.first("links") or nodes).all("link"):
        installed = _amount(link, ("preInstalledModule", "capacity"), name)
        modules = link.first("additionalModules")
        sizes = [_amount(each, ("capacity",), name) for each in modules.all("addModule")] if modules else []
        cables.append(_cable(_two(link, sites, name), installed, sizes, scale))
    asked = root.first("demands")
    demands = tuple(
        Demand(_two(each, sites, name), _amount(each, ("demandValue",), name) * scale.bits_per_s)
        for each in (asked.all("demand") if asked else ())
    )
    notes = (scale.note,) if scale.note else ()
    chart = Chart("", "SNDlib, XML", tuple(sites.values()), tuple(cables), demands, notes)
    return checked(chart, name=name)


def _cable(ends: tuple[str, str], installed: Fraction, modules: Sequence[Fraction], scale: _Unit) -> Cable:
    """What is installed is the rate; where nothing is, the largest module that may be."""
    size = installed or max(modules, default=Fraction(0))
    bits_per_s = int(size * scale.bits_per_s)
    if bits_per_s <= 0:
        return Cable(ends, None, "no capacity")
    what = "pre-installed capacity" if installed else "largest module"
    return Cable(ends, bits_per_s, f"{what} {float(size):g}")


def _unit(given: Rate | None, stated: str | None) -> _Unit:
    if given is not None:
        return _Unit(given.bits_per_s, None)
    if stated in _META_UNITS:
        return _Unit(_META_UNITS[stated], None)
    note = (
        "the file does not say the unit of its numbers: 1 Mbit/s is taken, or say another by --capacity-unit"
    )
    return _Unit(_MEGABIT, note)


def _amount(element: Element, tags: tuple[str, ...], name: str) -> Fraction:
    found = element.first(*tags)
    if found is None:
        return Fraction(0)
    return _positive(found.text.strip(), found.line, tags[-1], name)


def _positive(text: str, line: int, what: str, name: str) -> Fraction:
    if text.upper() == "UNLIMITED":
        return Fraction(0)
    value = number(text, name=name, line=line, what=f"{what},")
    if value < 0:
        raise wrong(name, line, f"{what} is {text}, which is negative", "write zero or more")
    return Fraction(str(value))


def _two(element: Element, sites: dict[str, Site], name: str) -> tuple[str, str]:
    source, target = (
        known(element.word(end), sites, name=name, line=element.line, what=f"the {end}")
        for end in ("source", "target")
    )
    return source, target


def _tokens(text: str) -> Iterator[_Token]:
    # The line of the mark is cut off.
    for line, content in enumerate(text.splitlines(), 2):
        for word in re.findall(r"[()]|[^\s()]+", content.partition("#")[0]):
            yield _Token(word, line)


def _sections(text: str, name: str) -> dict[str, _Group]:
    """The groups at the top, by the words before them."""
    stack: list[list[_Item]] = [[]]
    begun: list[int] = []
    line = 1
    for token in _tokens(text):
        line = token.line
        if token.text == "(":
            stack.append([])
            begun.append(line)
        elif token.text == ")":
            if not begun:
                raise wrong(name, line, "closes a parenthesis that was never opened", "remove it")
            items = tuple(stack.pop())
            stack[-1].append(_Group(items, begun.pop()))
        else:
            stack[-1].append(token)
    if begun:
        message = f"a parenthesis of line {begun[-1]} is never closed"
        raise wrong(name, line, message, "the file may be cut off; fetch it again")
    top = stack[0]
    return {
        word.text: group
        for word, group in pairwise(top)
        if isinstance(word, _Token) and isinstance(group, _Group)
    }


def _entries(section: _Group | None, name: str) -> Iterator[tuple[_Token, tuple[_Item, ...]]]:
    """The entries of a section: each is what stands on one line."""
    entry: list[_Item] = []
    for item in (*(section.items if section else ()), None):
        if entry and (item is None or item.line != entry[0].line):
            first, *others = entry
            if not isinstance(first, _Token):
                raise wrong(name, first.line, "begins with a parenthesis", "write a name first")
            yield first, tuple(others)
            entry = []
        if item is not None:
            entry.append(item)


def _ends(first: _Token, others: Sequence[_Item], sites: dict[str, Site], name: str) -> tuple[str, str]:
    group = others[0] if others else None
    if not isinstance(group, _Group) or len(group.items) != 2:
        raise wrong(name, first.line, "does not say its two ends", "write NAME ( SOURCE TARGET ) ...")
    source, target = (
        known(
            each.text if isinstance(each, _Token) else "(", sites, name=name, line=first.line, what="the end"
        )
        for each in group.items
    )
    return source, target


def _value(first: _Token, others: Sequence[_Item], position: int, what: str, name: str) -> Fraction:
    found = others[position] if len(others) > position else None
    if not isinstance(found, _Token):
        raise wrong(name, first.line, f"{what} is missing", "write a number")
    return _positive(found.text, found.line, what, name)


def _numbers(group: _Group, count: int | None, what: str, name: str) -> list[float]:
    words = [each.text for each in group.items if isinstance(each, _Token)]
    if count is not None and len(words) != count:
        raise wrong(name, group.line, f"{what} are {len(words)} numbers", f"write {count}")
    return [
        0.0 if word.upper() == "UNLIMITED" else number(word, name=name, line=group.line, what=f"{what},")
        for word in words
    ]
