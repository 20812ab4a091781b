"""Instances: requests, links with capacities, and the links of each request.

The model is that of bulk transfers with a window: volume, release, deadline, greatest rate (specification of
the transport service in eWAN, PFLDnet 2006, section V; Marchal et al., RR-5523, 2005).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.problems import did_you_mean

SLACK = 1e-9
"""Relative error of floating-point sums that no comparison of rates or times may trip over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A volume to be moved within a window."""

    name: str
    source: str
    destination: str
    volume_bytes: int
    release_s: float = 0.0
    deadline_s: float = math.inf
    """Infinite: none."""
    max_bits_per_s: float = math.inf
    """What its ends can do; infinite: as much as the network carries."""

    def __post_init__(self) -> None:
        """Raise :class:`LonghaulError` for what can be no request."""
        if self.volume_bytes <= 0:
            self._refuse("moves nothing", "give it a volume of a byte or more")
        if not self.max_bits_per_s > 0:
            self._refuse("has no rate", "give it a greatest rate above zero")
        if not 0 <= self.release_s < math.inf:
            self._refuse(f"is released at {self.release_s} s", "release it at zero or later")
        if not self.deadline_s > self.release_s:
            remedy = "write a later deadline"
            self._refuse(f"ends at {self.deadline_s:g} s, but begins at {self.release_s:g} s", remedy)

    @property
    def volume_bits(self) -> float:
        """The volume as rates count it."""
        return 8.0 * self.volume_bytes

    def least_bits_per_s(self, start_s: float) -> float:
        """The constant rate that just meets the deadline from ``start_s`` on; infinite if it has passed."""
        left_s = self.deadline_s - start_s
        return self.volume_bits / left_s if left_s > 0 else math.inf

    def _refuse(self, message: str, remedy: str) -> None:
        raise LonghaulError(
            Code.REQUEST_INVALID, f"request {printable(self.name)} {message}", remedy=remedy, exit_code=2
        )


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a link, or one side of an access point."""

    name: str
    bits_per_s: float


@dataclass(frozen=True)
class Network:
    """Capacities, and the way between two places."""

    places: tuple[str, ...]
    links: tuple[Link, ...]
    way: Callable[[str, str], tuple[int, ...] | None]
    """The links (indices) from one place to another; ``None`` without a way."""


@dataclass(frozen=True)
class Point:
    """What an access point takes from its site into the network, and gives from the network to its site."""

    in_bits_per_s: float
    out_bits_per_s: float


def access_points(points: Mapping[str, Point]) -> Network:
    """A network without bottlenecks inside: only its access points limit, each way on its own."""
    links = []
    for name, point in points.items():
        links += [Link(f"{name} in", point.in_bits_per_s), Link(f"{name} out", point.out_bits_per_s)]
    position = {name: index for index, name in enumerate(points)}
    return Network(
        tuple(points),
        tuple(links),
        lambda source, destination: (2 * position[source], 2 * position[destination] + 1),
    )


@dataclass(frozen=True)
class Instance:
    """Requests on a network, each with its links: all that a policy needs to know."""

    requests: tuple[Request, ...]
    links: tuple[Link, ...]
    paths: tuple[tuple[int, ...], ...]
    """Links of each request."""
    tops_bits_per_s: tuple[float, ...]
    """The most that each request can have: its own greatest rate, or its narrowest link."""
    held_bits_per_s: Mapping[int, float] = field(default_factory=dict)
    """Requests that move already, at this rate, which policies that give one rate for good leave them."""

    def narrowest(self, request: int) -> Link | None:
        """The link that limits a request before its ends do; ``None`` if its ends do."""
        path = self.paths[request]
        least = min((self.links[each] for each in path), key=lambda link: link.bits_per_s, default=None)
        if least is None or least.bits_per_s > self.requests[request].max_bits_per_s:
            return None
        return least


def instance(requests: Sequence[Request], *, network: Network) -> Instance:
    """``requests`` on ``network``; raises :class:`LonghaulError` for a place or a way that is not there."""
    paths, tops = [], []
    ways: dict[tuple[str, str], tuple[int, ...]] = {}
    for request in requests:
        ends = request.source, request.destination
        if ends not in ways:
            ways[ends] = _way(request, network)
        path = ways[ends]
        top = min((network.links[each].bits_per_s for each in path), default=math.inf)
        top = min(top, request.max_bits_per_s)
        if top == math.inf:
            message = f"request {printable(request.name)} has no greatest rate, and no link limits it"
            raise LonghaulError(Code.REQUEST_INVALID, message, remedy="give it a max_rate", exit_code=2)
        paths.append(path)
        tops.append(top)
    return Instance(tuple(requests), network.links, tuple(paths), tuple(tops))


def unreachable(request: Request, network: Network) -> tuple[str, str, str] | None:
    """Why no way leads from end to end: the end to blame, what is wrong, what helps; ``None`` if one does."""
    for end, place in (("from", request.source), ("to", request.destination)):
        if place not in network.places:
            return end, f'there is no place "{printable(place)}"', did_you_mean(place, network.places)
    if request.source == request.destination:
        return "to", "is also its source", "name another place"
    if network.way(request.source, request.destination) is None:
        return "to", f"there is no path from {request.source}", "add a link"
    return None


def _way(request: Request, network: Network) -> tuple[int, ...]:
    wrong = unreachable(request, network)
    if wrong is not None:
        end, message, remedy = wrong
        raise LonghaulError(
            Code.REQUEST_NETWORK,
            f"request {printable(request.name)}: {end}: {message}",
            remedy=remedy,
            exit_code=2,
        )
    return network.way(request.source, request.destination) or ()
