"""The contents of a topology file: sites, links, demands."""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.distance import Place
from longhaul.scenario.syntax.problems import did_you_mean


@dataclass(frozen=True)
class Site:
    """A node of the file."""

    key: str
    """What the file calls it in its links."""
    label: str
    at: Place | None
    hub: bool = False
    """A point where several cables meet, and nobody lives."""


@dataclass(frozen=True)
class Cable:
    """A link of the file."""

    ends: tuple[str, str]
    bits_per_s: int | None
    origin: str
    """Where its rate is from."""
    one_way: bool = False


@dataclass(frozen=True)
class Demand:
    """Traffic of the file, in bit/s."""

    ends: tuple[str, str]
    bits_per_s: Fraction


@dataclass(frozen=True)
class Chart:
    """All that was read."""

    title: str
    format: str
    sites: tuple[Site, ...]
    cables: tuple[Cable, ...]
    demands: tuple[Demand, ...] = ()
    notes: tuple[str, ...] = ()
    """Warnings for the user."""


def wrong(name: str, line: int | None, message: str, remedy: str) -> LonghaulError:
    """An error at a line of file ``name``."""
    place = f"{name}:{line}" if line else name
    return LonghaulError(
        Code.FOREIGN_FILE_MALFORMED, f"{place}: {printable(message, limit=400)}", remedy=remedy, exit_code=2
    )


def number(text: str, *, name: str, line: int, what: str) -> float:
    """``text`` as a finite number, or an error that says ``what`` it should have been."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise wrong(name, line, f'{what} "{text}" is not a number', "write one like 48.85")
    return value


def place(latitude: float, longitude: float, *, name: str, line: int, who: str) -> Place:
    """Coordinates that are on the globe, or an error."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        message = f"{who} is at latitude {latitude:g}, longitude {longitude:g}, which is out of range"
        remedy = "correct it, or leave coordinates out and add --default-delay 5ms"
        raise wrong(name, line, message, remedy)
    return (latitude, longitude)


def known(key: str, sites: dict[str, Site], *, name: str, line: int, what: str) -> str:
    """``key`` itself, if it is one of ``sites``; else an error."""
    if key not in sites:
        raise wrong(name, line, f'{what} "{key}" is not a node', did_you_mean(key, sites))
    return key


def checked(chart: Chart, *, name: str) -> Chart:
    """``chart``, unless there is nothing in it to run."""
    if not chart.sites:
        raise wrong(name, None, "has no nodes", "take a file with a network in it")
    if not chart.cables:
        raise wrong(name, None, "has no links", "take a file with a network in it")
    return chart
