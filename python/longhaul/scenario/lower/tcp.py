"""Socket buffers of hosts, large enough for the largest BDP of their paths."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import longhaul.plan as planned
from longhaul.scenario.lower.congestion_control import CC_SYSCTL
from longhaul.scenario.lower.link_models import Plain, bdp_bytes
from longhaul.scenario.lower.paths import Routes, Step
from longhaul.scenario.model import Tcp

SMALLEST = 6 << 20
"""What Linux itself allows tcp_rmem (tcp(7)): nobody gets less than on a plain machine."""
LARGEST = 256 << 20
_RECOVERY: Mapping[str, Mapping[str, str]] = {
    "newreno": {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_recovery": "0"},
    "sack": {"net.ipv4.tcp_recovery": "0"},
    "rack": {"net.ipv4.tcp_recovery": "1"},
}
ASSUMED_BITS_PER_S = 40 * 10**9
"""Where no link has a rate."""


def sysctls(general: Tcp, own: Tcp, largest: int, *, mtu: int) -> dict[str, str]:
    """A host's settings: its own, else the general ones, else buffers of up to ``largest`` bytes."""
    buffers = own.buffers if "buffers" in own.model_fields_set else general.buffers
    most = buffers.bytes if buffers else largest
    # Half of a buffer is offered: the first one has to hold the first window.
    first = max(131_072, 2 * (initial_window(general, own) or 0) * mtu)
    found = {
        "net.ipv4.tcp_rmem": f"{min(4096, most)} {min(first, most)} {most}",
        "net.ipv4.tcp_wmem": f"{min(4096, most)} {min(65_536, most)} {most}",
    }
    algorithm = own.congestion_control or general.congestion_control
    found |= {CC_SYSCTL: algorithm} if algorithm else {}
    recovery = own.recovery or general.recovery
    found |= _RECOVERY.get(recovery, {}) if recovery else {}
    ecn = _first(own.ecn, general.ecn)
    found |= {} if ecn is None else {"net.ipv4.tcp_ecn": "1" if ecn else "0"}
    return found | general.sysctls | own.sysctls


def simulated(general: Tcp, own: Tcp, largest: int) -> planned.Tcp:
    """How a host's TCP behaves when it is simulated."""
    buffers = own.buffers if "buffers" in own.model_fields_set else general.buffers
    recovery = own.recovery or general.recovery
    window = initial_window(general, own)
    rto = own.min_rto or general.min_rto
    found: dict[str, Any] = {"buffer_bytes": buffers.bytes if buffers else largest}
    for key in ("delayed_ack", "pacing", "ecn"):
        value = _first(getattr(own, key), getattr(general, key))
        found |= {} if value is None else {key: bool(value)}
    found |= {"even": True} if _first(own.pacing, general.pacing) == "dynamic" else {}
    found |= {"recovery": recovery} if recovery else {}
    found |= {"initial_window": window} if window else {}
    return cast("planned.Tcp", found | ({"min_rto_ns": rto.ns} if rto else {}))


def initial_window(general: Tcp, own: Tcp) -> int | None:
    """A host's first windows, in segments; ``None``: what TCP has by itself."""
    return own.initial_window or general.initial_window


def only_simulated(tcp: Tcp) -> tuple[str, ...]:
    """What no live host does of what is asked."""
    fields = ("delayed_ack", "pacing", "min_rto")
    found = [field for field in fields if getattr(tcp, field) is not None]
    if tcp.recovery in ("tahoe", "reno", "sack-adaptive"):
        found.append(f"recovery: {tcp.recovery}")
    return tuple(found)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def largest_buffers(routes: Routes, groups: Iterable[list[int]]) -> dict[int, int]:
    """For each host the buffer that its longest fat path needs.

    Twice the BDP plus the bottleneck's queue: the kernel counts its own overhead, about as much again,
    against the buffer (tcp(7), tcp_adv_win_scale), and a full queue lengthens the round trip.
    """
    groups = list(groups)
    heads = [group[0] for group in groups]
    # One column for each destination; numbers only, since there may be a million pairs.
    delays, rates, queues = ([array("q") for _head in heads] for _column in range(3))
    queue_of: dict[Step | None, int] = {None: 0}
    for column, destination in enumerate(heads):
        for reach in routes.reaches(heads, destination):
            step = reach.bottleneck if reach else None
            if step is not None and step not in queue_of:
                queue_of[step] = _queue_bytes(routes, step)
            delays[column].append(-1 if reach is None else reach.delay_ns)
            rates[column].append(reach.bits_per_s or 0 if reach else 0)
            queues[column].append(queue_of[step])
    found: dict[int, int] = {}
    for here, group in enumerate(groups):
        most = max([SMALLEST, *_between_two_of(routes, group)])
        for there in range(len(heads)):
            onward, homeward = delays[there][here], delays[here][there]
            if there != here and onward >= 0 and homeward >= 0:
                bdp = bdp_bytes(rates[there][here] or ASSUMED_BITS_PER_S, onward + homeward)
                most = max(most, 2 * (bdp + queues[there][here]))
        most = min(-(-most // 4096) * 4096, LARGEST)
        found |= dict.fromkeys(group, most)
    return found


def _between_two_of(routes: Routes, group: list[int]) -> Iterator[int]:
    way = routes.way(*group[:2]) if len(group) > 1 else None
    if way is not None:
        step = None if way.bottleneck is None else (way.bottleneck, dict(way.there)[way.bottleneck])
        bdp = bdp_bytes(way.bits_per_s or ASSUMED_BITS_PER_S, way.round_trip_ns)
        yield 2 * (bdp + (_queue_bytes(routes, step) if step else 0))


def _queue_bytes(routes: Routes, step: Step) -> int:
    link = routes.links[step[0]]
    direction = link[step[1]]
    lanes = direction["bundle"]["routes"] if direction["bundle"] else [direction]
    queue = 0
    for lane in lanes:
        limits: Plain = lane["queue"]
        queue += limits["limit_bytes"] or (limits["limit_packets"] or 0) * int(link["mtu"])
    return queue
