"""Contradictions between the figures that programs report and those that the network counted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longhaul.units.configured import size

Json = Mapping[str, Any]

BYTES_SHARE = 0.05
BYTES = 256 * 1024
"""By so much a program's count of bytes may differ from the network's: by a share of the larger count, and by
what may lie in the receiver's buffers."""
PACKETS_SHARE = 0.01
PACKETS = 5
"""The same for packets."""
_BOTH = ("reported", "counted")


def contradictions(flows: Sequence[Json], probes: Sequence[Json]) -> Iterator[Json]:
    """A warning for each flow or ping whose program's own counts differ from those of the network."""
    for flow in flows:
        name = f"flow {flow['flow']}" if "flow" in flow else flow["name"]
        yield from (_warning(name, each) for each in flow.get("checked", ()) if _differ(each))
    for probe in probes:
        name = f"ping {probe['name']} to {probe['to']}"
        yield from (_warning(name, each) for each in probe.get("checked", ()) if _differ(each))


def checked(what: str, unit: str, *, reported: int | None, counted: int | None) -> Json:
    """What a program reports of its traffic beside what the network counted; ``unit`` is bytes or packets."""
    return {"what": what, "unit": unit, "reported": reported, "counted": counted}


def _warning(name: str, each: Json) -> Json:
    in_bytes = each["unit"] == "bytes"
    reported, counted = (size(each[key]) if in_bytes else f"{each[key]} packets" for key in _BOTH)
    share = BYTES_SHARE if in_bytes else PACKETS_SHARE
    floor = size(BYTES) if in_bytes else f"{PACKETS} packets"
    return {
        "kind": "contradiction",
        "name": name,
        "text": f"{name}: the program reports {reported} {each['what']}, the network counted {counted}; "
        f"results use the network's count (tolerance: {share:.0%} and {floor})",
    }


def _differ(each: Json) -> bool:
    reported, counted = (each[key] for key in _BOTH)
    if reported is None or counted is None:
        return False
    share, floor = (BYTES_SHARE, BYTES) if each["unit"] == "bytes" else (PACKETS_SHARE, PACKETS)
    return bool(abs(reported - counted) > share * max(reported, counted) + floor)
