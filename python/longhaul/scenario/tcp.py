"""Socket buffers of hosts, large enough for their longest fat path."""

from collections.abc import Iterable, Mapping

from longhaul.scenario.laws import Plain, bdp_bytes
from longhaul.scenario.model import Tcp
from longhaul.scenario.paths import Routes, Way

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


def sysctls(general: Tcp, own: Tcp, largest: int) -> dict[str, str]:
    """A host's settings: its own, else the general ones, else buffers of up to ``largest`` bytes."""
    buffers = own.buffers if "buffers" in own.model_fields_set else general.buffers
    most = buffers.bytes if buffers else largest
    found = {
        "net.ipv4.tcp_rmem": f"{min(4096, most)} {min(131_072, most)} {most}",
        "net.ipv4.tcp_wmem": f"{min(4096, most)} {min(65_536, most)} {most}",
    }
    law = own.congestion_control or general.congestion_control
    found |= {"net.ipv4.tcp_congestion_control": law} if law else {}
    recovery = own.recovery or general.recovery
    found |= _RECOVERY.get(recovery, {}) if recovery else {}
    ecn = _first(own.ecn, general.ecn)
    found |= {} if ecn is None else {"net.ipv4.tcp_ecn": "1" if ecn else "0"}
    return found | general.sysctls | own.sysctls


def simulated(general: Tcp, own: Tcp, largest: int) -> Plain:
    """How a host's TCP behaves when it is simulated."""
    buffers = own.buffers if "buffers" in own.model_fields_set else general.buffers
    recovery = own.recovery or general.recovery
    window = own.initial_window or general.initial_window
    rto = own.min_rto or general.min_rto
    found: Plain = {"buffer_bytes": buffers.bytes if buffers else largest}
    for key in ("delayed_ack", "pacing", "ecn"):
        value = _first(getattr(own, key), getattr(general, key))
        found |= {} if value is None else {key: value}
    found |= {"recovery": recovery} if recovery else {}
    found |= {"initial_window": window} if window else {}
    return found | ({"min_rto_ns": rto.ns} if rto else {})


def only_simulated(tcp: Tcp) -> tuple[str, ...]:
    """What no live host does of what is asked."""
    fields = ("initial_window", "delayed_ack", "pacing", "min_rto")
    found = [field for field in fields if getattr(tcp, field) is not None]
    if tcp.recovery in ("tahoe", "reno", "sack-adaptive"):
        found.append(f"recovery: {tcp.recovery}")
    return tuple(found)


def _first(*values: bool | None) -> bool | None:
    return next((value for value in values if value is not None), None)


def largest_buffers(routes: Routes, groups: Iterable[list[int]]) -> dict[int, int]:
    """For each host the buffer that its longest fat path needs.

    Twice the BDP plus the bottleneck's queue: the kernel counts its own overhead, about as much again,
    against the buffer (tcp(7), tcp_adv_win_scale), and a full queue lengthens the round trip.
    """
    groups = list(groups)
    found: dict[int, int] = {}
    for group in groups:
        most = SMALLEST
        for other in groups:
            partner = next((node for node in other if node != group[0]), None)
            way = routes.way(group[0], partner) if partner is not None else None
            if way is not None:
                most = max(most, _need(routes, way))
        most = min(-(-most // 4096) * 4096, LARGEST)
        found |= dict.fromkeys(group, most)
    return found


def _need(routes: Routes, way: Way) -> int:
    bdp = bdp_bytes(way.bits_per_s or ASSUMED_BITS_PER_S, way.round_trip_ns)
    queue = 0
    if way.bottleneck is not None:
        link = routes.links[way.bottleneck]
        direction = link[dict(way.there)[way.bottleneck]]
        lanes = direction["bundle"]["routes"] if direction["bundle"] else [direction]
        for lane in lanes:
            limits: Plain = lane["queue"]
            queue += limits["limit_bytes"] or (limits["limit_packets"] or 0) * int(link["mtu"])
    return 2 * (bdp + queue)
