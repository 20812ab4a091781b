"""Where the packets of two runs on the virtual clock differ first."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longhaul.results.run_files import kept_json

_FILE = "raw/digests.json"
_MOST_HOSTS = 4
"""That a sentence names."""


@dataclass(frozen=True)
class Divergence:
    """The first interval in which the packets of two runs differ, on the runs' clock."""

    from_ns: int
    to_ns: int
    hosts: tuple[str, ...]
    """Hosts that sent or received other packets, or at other times, at any time of the run."""

    def __str__(self) -> str:
        start, end = (f"{each / 1e9:.3f}" for each in (self.from_ns, self.to_ns))
        more = len(self.hosts) - _MOST_HOSTS
        names = ", ".join(self.hosts[:_MOST_HOSTS]) + (f" and {more} others" if more > 0 else "")
        return f"packets differ first between {start} and {end} s; packets of {names} differ"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def first_difference(one: Path, other: Path) -> Divergence | None:
    """Where the packets of two run directories differ first.

    ``None`` if they are equal, or if either run was not on the virtual clock. Raises LonghaulError for a
    damaged file.
    """
    if not all((run / _FILE).is_file() for run in (one, other)):
        return None
    first, second = (kept_json(run, _FILE) for run in (one, other))
    before, now = first["hosts"], second["hosts"]
    hosts = sorted(before.keys() | now.keys())
    differing = tuple(name for name in hosts if before.get(name) != now.get(name))
    if not differing:
        return None
    interval_ns = max(first["interval_ns"], second["interval_ns"])
    sums, others = (
        _sums([int(each, 16) for each in digests["intervals"]], interval_ns // digests["interval_ns"])
        for digests in (first, second)
    )
    length = max(len(sums), len(others))
    pairs = zip(_padded(sums, length), _padded(others, length), strict=True)
    place = next((place for place, (each, again) in enumerate(pairs) if each != again), None)
    if place is None:
        return None
    return Divergence(place * interval_ns, (place + 1) * interval_ns, differing)


def _sums(digests: Sequence[int], count: int) -> list[int]:
    """Digests of longer intervals: the sum of so many shorter ones."""
    return [sum(digests[at : at + count]) % 2**64 for at in range(0, len(digests), count)]


def _padded(digests: Sequence[int], length: int) -> list[int]:
    return [*digests, *[0] * (length - len(digests))]
