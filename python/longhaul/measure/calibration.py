"""What emulation costs on this machine: measured once, kept as its certificate, quoted in each run."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from longhaul.measure import plans
from longhaul.measure.direct import direct_ping, direct_tcp
from longhaul.measure.probe import measure
from longhaul.run.certificate import processor

LATENESS_LIMIT_NS = 100_000
"""A rate holds while 99 % of packets are written within this time of being due."""

_PINGS = 400
_ROUNDS = 3
_RATES = (10**8, 5 * 10**8, 10**9, 2 * 10**9, 5 * 10**9, 10**10)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Certificate:
    """The figures; rates in bit/s, times in ns."""

    measured: str
    """When, UTC."""
    kernel: str
    cpu: str
    cpus: int
    base_one_way_ns: int
    """What the emulator adds to a direct veth, one way."""
    direct_rtt_ns: int
    zero_delay_rtt_ns: int
    jitter_p50_ns: int
    """Lateness at 2,000 packets/s on an otherwise idle host."""
    jitter_p99_ns: int
    ceiling_bits_per_s: float
    """One TCP flow, no delay, no rate."""
    ceiling_packets_per_s: float
    """The same with every segment written alone."""
    direct_bits_per_s: float
    faithful_bits_per_s: int
    """The highest constant rate at which lateness held; 0 if none did."""
    gaps_per_s: float
    """Times that the host did not run the engine for over 100 us, during the idle measurement."""


def calibrate(say: Say) -> Certificate:
    """Measure this machine; takes about a minute. ``say`` is told of each step."""
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
        say(f"lateness at {rate / 1e9:g} Gbit/s")
        run = measure(plans.pair(delay_ns=5_000_000, bits_per_s=rate, programs=plans.tcp(seconds=2)))
        if run.lateness_ns("p99") > LATENESS_LIMIT_NS or run.drops():
            break
        faithful = rate
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
    )
