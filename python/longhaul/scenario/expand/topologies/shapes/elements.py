"""Elements of shapes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from longhaul.scenario.expand.topologies.distance import Place
from longhaul.units.quantities import Span


@dataclass(frozen=True)
class Router:
    """A router of the model."""

    name: str
    at: Place | None = None
    """Latitude and longitude in degrees."""


@dataclass(frozen=True)
class Host:
    """A host, attached to a router by the settings of access links."""

    name: str
    on: str
    function: str = "client"
    profile: str = "access"


@dataclass(frozen=True)
class Joint:
    """A link between two routers, or of a host beside its attachment."""

    name: str
    ends: tuple[str, str]
    delay: Span | None = None
    """Where it is not that of all links between routers."""
    profile: str = "wan"
    loss: str | None = None
    """The preset of losses on the way to the second end."""
    is_traced: bool = False
    """Whether it has a delay over time, which the topology knows by its ends."""


@dataclass(frozen=True)
class Detour:
    """At router ``at``, packets to host ``to`` leave towards ``via``."""

    at: str
    to: str
    via: str


@dataclass(frozen=True)
class Change:
    """At a time, links join the network or leave it."""

    at: Span
    links: tuple[str, ...]
    joins: bool


Element = Router | Host | Joint | Detour | Change


def joint(one: str, other: str, *, delay: Span | None = None) -> Joint:
    """A link that is named after its ends."""
    return Joint(f"{one}-{other}", (one, other), delay)


def hosts(
    router: str, count: int, *, function: str = "client", prefix: str | None = None, profile: str = "access"
) -> Iterator[Host]:
    """``count`` hosts at ``router``: par1, par2 at par, but r1-h1, r1-h2 at r1."""
    begin = prefix or (f"{router}-h" if router[-1].isdigit() else router)
    for number in range(1, count + 1):
        yield Host(f"{begin}{number}", router, function, profile)


def site(router: str, count: int, *, function: str = "client", at: Place | None = None) -> Iterator[Element]:
    """A router and its hosts."""
    yield Router(router, at)
    yield from hosts(router, count, function=function)


def pairs(names: Iterable[str], shape: str) -> Iterator[tuple[str, str]]:
    """Which of ``names`` are joined in a chain, a ring, a star around the first, or a mesh."""
    every = list(names)
    match shape:
        case "chain" | "ring":
            yield from pairwise(every)
            if shape == "ring" and len(every) > 2:
                yield every[-1], every[0]
        case "star":
            yield from ((every[0], other) for other in every[1:])
        case _:
            yield from combinations(every, 2)
