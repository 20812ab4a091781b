"""Calibration: the accuracy and capacity of this machine, measured once and kept as its certificate."""

import os
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median

from longhaul.calibrate import plans
from longhaul.calibrate.direct import direct_ping, direct_tcp
from longhaul.calibrate.host import load
from longhaul.calibrate.probe import measure
from longhaul.calibrate.wires import datagrams, gigabit
from longhaul.results.certificate import Certificate, processor
from longhaul.units.text import rate_text

LATENESS_LIMIT_NS = 100_000
"""A rate holds while 99 % of packets are written within this time of being due."""

_PINGS = 400
_ROUNDS = 3
_RATES = (10**8, 5 * 10**8, 10**9, 2 * 10**9, 5 * 10**9, 10**10)
_PACKET_RATES = (10_000, 20_000, 50_000, 100_000, 200_000)
_SMALL_BYTES = 100
"""Payload of a datagram where packets count and not bytes."""
_UDP_HEADERS = 28
_CROWD = 40

STEPS = 5 + len(_RATES) + len(_PACKET_RATES)
"""The number of steps that :func:`calibrate` tells of, at most: it tries no rate above one that fails."""
TAKES_S = 120.0
"""About as long as all of them take."""

Say = Callable[[str], None]


def calibrate(say: Say) -> Certificate:
    """Measure this machine; takes about two minutes. ``say`` is told of each step."""
    machine = load()
    if machine.state != "good":
        say(f"load {machine.detail}: the figures will be worse than on an idle machine; {machine.fix}")
    say("round trip: direct veth against the emulator without delay")
    direct, zero = [], []
    for _ in range(_ROUNDS):
        direct += direct_ping(count=_PINGS)
        zero += measure(plans.pair(programs=[plans.ping(count=_PINGS, interval_s=0.005)])).rtts_s()
    say("lateness at 2,000 packets/s")
    idle = measure(plans.pair(delay_ns=1_000_000, programs=[plans.ping(count=5_000, interval_s=0.001)]))
    say("throughput of one TCP flow")
    direct_rate = direct_tcp(seconds=3)
    ceiling = measure(plans.pair(programs=plans.tcp(seconds=3)))
    alone = measure(plans.pair(programs=plans.tcp(seconds=3), coalesce_ns=0))
    faithful = 0
    for rate in _RATES:
        say(f"lateness at {rate_text(rate)}")
        run = measure(plans.pair(delay_ns=5_000_000, bits_per_s=rate, programs=plans.tcp(seconds=2)))
        if run.lateness_ns("p99") > LATENESS_LIMIT_NS or run.drops():
            break
        faithful = rate
    packets = 0
    for rate in _PACKET_RATES:
        say(f"lateness at {rate} small packets/s")
        if not _keeps_up(rate):
            break
        packets = rate
    say("time to bring hosts up")
    hosts = _hosts_per_s()
    say("gigabit Ethernet: TCP and UDP")
    tcp = median(gigabit("tcp").shown_bits_per_s for _ in range(_ROUNDS))
    udp = median(gigabit("udp").shown_bits_per_s for _ in range(_ROUNDS))
    direct_rtt, zero_rtt = median(direct), median(zero)
    seconds = alone.engine["duration_ns"] / 1e9
    return Certificate(
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        kernel=platform.release(),
        cpu=processor(),
        cpus=os.cpu_count() or 1,
        base_one_way_ns=max(round((zero_rtt - direct_rtt) / 2 * 1e9), 0),
        direct_rtt_ns=round(direct_rtt * 1e9),
        zero_delay_rtt_ns=round(zero_rtt * 1e9),
        jitter_p50_ns=idle.lateness_ns("p50"),
        jitter_p99_ns=idle.lateness_ns("p99"),
        ceiling_bits_per_s=ceiling.goodput(),
        ceiling_packets_per_s=alone.engine["packets"]["delivered"] / seconds,
        direct_bits_per_s=direct_rate,
        faithful_bits_per_s=faithful,
        gaps_per_s=round(idle.engine["gaps"]["count"] / (idle.engine["duration_ns"] / 1e9), 3),
        faithful_packets_per_s=packets,
        hosts_per_s=round(hosts, 1),
        gigabit_tcp_bits_per_s=tcp,
        gigabit_udp_bits_per_s=udp,
    )


def _keeps_up(packets_per_s: int) -> bool:
    """Whether packets that a serialiser lets go one by one at this rate are written in time."""
    size = _SMALL_BYTES + _UDP_HEADERS
    plan = plans.pair(
        delay_ns=1_000_000,
        bits_per_s=packets_per_s * size * 8,
        queue_bytes=packets_per_s * size // 10,
        coalesce_ns=0,
        programs=datagrams(bits_per_s=packets_per_s * _SMALL_BYTES * 8 * 11 // 10, size=_SMALL_BYTES),
    )
    run = measure(plan)
    enough = run.engine["packets"]["delivered"] > 3 * packets_per_s
    return enough and run.lateness_ns("p99") <= LATENESS_LIMIT_NS


def _hosts_per_s() -> float:
    """From the difference between few hosts and many, so that what every run costs is left out."""
    taken = []
    for hosts in (2, 2 + _CROWD):
        began = time.monotonic()
        measure(plans.crowd(hosts))
        taken.append(time.monotonic() - began)
    return _CROWD / max(taken[1] - taken[0], 1e-3)
