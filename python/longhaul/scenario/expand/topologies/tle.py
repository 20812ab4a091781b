"""Satellites of two-line element sets (TLE), by SGP4.

The format is that of NORAD (Hoots and Roehrich, "Spacetrack Report No. 3", 1980; Vallado et al., "Revisiting
Spacetrack Report #3", AIAA 2006-6753), and the propagation that of the package ``sgp4``. Its axes (TEME) turn
with the Earth by Greenwich's mean sidereal time; the motion of the poles is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.expand.topologies.distance import EARTH_KM
from longhaul.scenario.expand.topologies.naming import node_name, unique
from longhaul.scenario.expand.topologies.satellites import (
    MOST_SATELLITES,
    ConstellationError,
    Floats,
    Pair,
    ordered,
)

LARGEST = 4 << 20
"""Bytes of a file of elements."""
_LINE = 69
"""Characters of a line of elements; the last is its checksum."""
_SAME_PLANE_DEG = 2.0
"""Satellites whose orbits' normals are so close share a plane."""
_SAME_SHELL = (1.0, 50.0)
"""Inclinations in degrees, and mean altitudes in km, of planes that have links to each other."""
_OLDEST = timedelta(days=30)
"""SGP4 errs by kilometres for each day from the epoch on, and does not end at the ground."""
_ATMOSPHERE_KM = 80.0
"""Links between satellites stay above it."""


@dataclass(frozen=True)
class _Record:
    """A satellite of the file."""

    title: str
    first: str
    second: str
    line: int


@dataclass(frozen=True)
class Elements:
    """The satellites of a file of elements, from an instant on."""

    file: str
    records: tuple[_Record, ...]
    at: datetime
    """The instant at which the scenario begins (UTC)."""
    left_out: int = 0
    """Satellites whose elements do not reach that instant."""

    @cached_property
    def _array(self) -> Any:
        from sgp4.api import SatrecArray

        return SatrecArray([_satellite(each) for each in self.records])

    def names(self) -> list[str]:
        """Names of the satellites, or their catalogue numbers."""
        wanted = (node_name(each.title, otherwise=f"sat-{each.first[2:7].strip()}") for each in self.records)
        return list(unique(wanted))

    def header(self) -> Iterator[str]:
        """What the scenario says of them."""
        if self.left_out:
            yield f"Left out: {self.left_out} of {self.file}, whose elements have no orbit then."
        yield f"{len(self.records)} satellites of {self.file} (TLE, by SGP4), from {_iso(self.at)}"

    def positions_km(self, at_s: float) -> Floats:
        """x, y, z of each satellite, in axes that turn with the Earth; shape (satellites, 3)."""
        from sgp4.propagation import gstime

        places, _velocities, whole = self._states(at_s)
        angle = float(gstime(whole))
        cosine, sine = np.cos(angle), np.sin(angle)
        x, y, z = places.T
        return np.stack([x * cosine + y * sine, y * cosine - x * sine, z], axis=1)

    def _states(self, at_s: float) -> tuple[Floats, Floats, float]:
        """Positions in km and velocities in km/s in TEME, and the Julian date."""
        from sgp4.api import jday

        now = self.at + timedelta(seconds=at_s)
        seconds = now.second + now.microsecond / 1e6
        day, fraction = jday(now.year, now.month, now.day, now.hour, now.minute, seconds)
        errors, places, velocities = self._array.sgp4(np.array([day]), np.array([fraction]))
        if errors.any():
            lost = self.records[int(np.flatnonzero(errors[:, 0])[0])]
            raise _wrong(
                self.file, lost.line, f"these elements have no orbit {at_s:g} s later", "remove the satellite"
            )
        return places[:, 0], velocities[:, 0], day + fraction

    def grid(self) -> list[Pair]:
        """+Grid as it is at the beginning: neighbours in a plane, and the nearest of the next plane.

        Planes are those of satellites whose orbits' normals are alike. There is a link only where the Earth
        and its atmosphere are not in between.
        """
        places, velocities, _day = self._states(0.0)
        normals = np.cross(places, velocities)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        pairs = set[Pair]()
        planes = _planes(normals)
        for members in planes:
            pairs.update(_around(members, places, normals))
        for members, others in _neighbours(planes, places, normals):
            pairs.update(_nearest(members, others, places))
        return sorted(pair for pair in pairs if _in_sight(places[pair[0]], places[pair[1]]))


def _planes(normals: Floats) -> list[list[int]]:
    """Satellites by plane, with the normal of the first one of each."""
    planes: list[list[int]] = []
    heads = np.empty((0, 3))
    limit = np.cos(np.radians(_SAME_PLANE_DEG))
    for satellite, normal in enumerate(normals):
        close = heads @ normal
        if close.size and close.max() >= limit:
            planes[int(close.argmax())].append(satellite)
        else:
            planes.append([satellite])
            heads = np.vstack([heads, normal])
    return planes


def _around(members: Sequence[int], places: Floats, normals: Floats) -> Iterator[Pair]:
    """The ring of a plane, by angle."""
    if len(members) < 2:
        return
    normal = normals[members[0]]
    towards = places[members[0]] / np.linalg.norm(places[members[0]])
    ahead = np.cross(normal, towards)
    angles = np.arctan2(places[list(members)] @ ahead, places[list(members)] @ towards)
    order = [members[each] for each in np.argsort(angles)]
    for a, b in zip(order, [*order[1:], order[0]], strict=True):
        yield ordered(a, b)


def _neighbours(
    planes: list[list[int]], places: Floats, normals: Floats
) -> Iterator[tuple[list[int], list[int]]]:
    """Each plane and the next one to the east of the same shell."""
    heads = np.array([normals[members[0]] for members in planes])
    inclinations = np.degrees(np.arccos(np.clip(heads[:, 2], -1, 1)))
    heights = np.array([np.linalg.norm(places[members], axis=1).mean() for members in planes])
    nodes = np.arctan2(heads[:, 0], -heads[:, 1])
    for plane, members in enumerate(planes):
        alike = (abs(inclinations - inclinations[plane]) <= _SAME_SHELL[0]) & (
            abs(heights - heights[plane]) <= _SAME_SHELL[1]
        )
        alike[plane] = False
        others = np.flatnonzero(alike)
        if others.size:
            apart = (nodes[others] - nodes[plane]) % (2 * np.pi)
            yield members, planes[int(others[apart.argmin()])]


def _nearest(members: Sequence[int], others: Sequence[int], places: Floats) -> Iterator[Pair]:
    """Pairs across two planes, the closest first; each satellite has one link."""
    lengths = np.linalg.norm(places[list(members)][:, None] - places[list(others)][None], axis=2)
    used_a, used_b = set[int](), set[int]()
    for flat in np.argsort(lengths, axis=None):
        here, there = divmod(int(flat), len(others))
        if here in used_a or there in used_b:
            continue
        used_a.add(here)
        used_b.add(there)
        a, b = members[here], others[there]
        yield ordered(a, b)


def _in_sight(one: Floats, other: Floats) -> bool:
    """Whether the line between two satellites stays above the atmosphere."""
    way = other - one
    # Docked satellites are in one place.
    share = np.clip(-(one @ way) / max(float(way @ way), 1e-9), 0, 1)
    return bool(np.linalg.norm(one + share * way) >= EARTH_KM + _ATMOSPHERE_KM)


def read_elements(path: Path, *, at: datetime | None = None) -> Elements:
    """The satellites in ``path``, as :func:`elements_of` has them. Raises LonghaulError."""
    try:
        content = read_regular(path, most_bytes=LARGEST)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {path}: {reason.lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file of elements", exit_code=2
        ) from None
    return elements_of(content, path.name, at=at)


def elements_of(content: bytes, file: str, *, at: datetime | None = None) -> Elements:
    """The satellites in a file: sets of two lines, each with a line of its name before it or not.

    ``at``: when the scenario begins; the newest epoch of the file if it is not given. Satellites whose
    elements give no orbit then, or are 30 days older or newer, are left out. Raises
    :class:`ConstellationError`, with the line of ``file``.
    """
    text = content.decode("utf-8", "replace")
    records = tuple(_records(text, file))
    if not records:
        remedy = "take sets of two lines, which begin with 1 and 2"
        raise _wrong(file, None, "there are no satellites", remedy)
    if len(records) > MOST_SATELLITES:
        raise _wrong(file, None, f"there are more than {MOST_SATELLITES} satellites", "take fewer")
    satellites = [_satellite(each) for each in records]
    begin = at or max(_epoch(each) for each in satellites)
    day = begin.timestamp() / 86_400 + 2_440_587.5
    good = [
        record
        for record, each in zip(records, satellites, strict=True)
        if abs(_epoch(each) - begin) <= _OLDEST and _has_orbit(each, day)
    ]
    if not good:
        message = f"no satellite has an orbit at {_iso(begin)}"
        raise _wrong(file, None, message, "choose another time, or newer elements")
    return Elements(file, tuple(good), begin, len(records) - len(good))


def _has_orbit(satellite: Any, day: float) -> bool:
    error, place, _velocity = satellite.sgp4(day, 0.0)
    return error == 0 and bool(np.isfinite(place).all())


def _satellite(record: _Record) -> Any:
    from sgp4.api import Satrec

    return Satrec.twoline2rv(record.first, record.second)


def _epoch(satellite: Any) -> datetime:
    days = satellite.jdsatepoch - 2_440_587.5 + satellite.jdsatepochF
    return datetime.fromtimestamp(round(days * 86_400), UTC)


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _records(text: str, file: str) -> Iterator[_Record]:
    title, first, first_at = "", "", 0
    for at, raw in enumerate(text.splitlines(), 1):
        line = raw.rstrip()
        if first:
            if not line.startswith("2 "):
                raise _wrong(file, at, "the second line of a set begins with 2", "repeat the download")
            _check(file, at, line)
            if line[2:7] != first[2:7]:
                message = "the two lines of a set are of different satellites"
                raise _wrong(file, at, message, "repeat the download")
            yield _Record(title, first, line, first_at)
            title, first = "", ""
        elif line.startswith("1 ") and len(line) >= _LINE - 1:
            _check(file, at, line)
            first, first_at = line, at
        elif line.startswith("2 ") and len(line) >= _LINE - 1:
            raise _wrong(file, at, "the first line of this set is missing", "repeat the download")
        elif line and not line.startswith("#"):
            if title:
                raise _wrong(
                    file, at, f'"{printable(line, limit=40)}" is not a line of elements', "take TLEs"
                )
            # Some files number the line of the name.
            title = line.removeprefix("0 ").strip()
    if first:
        raise _wrong(file, first_at, "the second line of this set is missing", "repeat the download")


def _check(file: str, at: int, line: str) -> None:
    if len(line) != _LINE:
        raise _wrong(
            file, at, f"a line of elements has {_LINE} characters, not {len(line)}", "repeat the download"
        )
    total = sum(int(each) if each.isdigit() else each == "-" for each in line[:-1])
    if line[-1] != str(total % 10):
        message = f"the checksum is {line[-1]}, and that of the line is {total % 10}"
        raise _wrong(file, at, message, "repeat the download")


def _wrong(file: str, line: int | None, message: str, remedy: str) -> ConstellationError:
    place = f"{file}:{line}" if line else file
    return ConstellationError(Code.FOREIGN_FILE_MALFORMED, f"{place}: {message}", remedy=remedy, key="tle")
