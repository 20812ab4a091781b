"""Random losses of single segments and of super-packets: the same link by netem and by Longhaul.

One TCP flow (cubic) over 20 ms one way that loses 0.05 % of its packets, without a rate and at 100 Mbit/s: by
netem of a guest kernel with super-packets (GSO, as Linux has by default) and without, by Longhaul on the
virtual clock, whose hosts send super-packets, too, and simulated. Counted are 40 s after the first 10:
without a rate slow start lasts until the first loss, and its window varies too much from seed to seed. Values
are means over seeds; the interval is half of the 95 % confidence interval. Needs a guest kernel; without one
nothing is measured. Writes ``bench/segment_loss.json``.
"""

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from figures import Row, measure_all, row

import longhaul
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import Kernel, find
from longhaul.oracle import api
from longhaul.oracle.stages import Stage
from longhaul.scenario import load_scenario, resolve
from longhaul.studies import measured

SEEDS = 10
WARM_UP_S = 10
SECONDS = 50
LOSS = 0.0005
DELAY_MS = 20
RATE_MBIT = 100
QUEUE_PACKETS = 333
"""A BDP of the round trip: 100 Mbit/s, 40 ms, 1500 bytes."""
LIMIT_PACKETS = 500
"""Of netem, which counts the packets in delay, too: those of 20 ms are 167."""
WITHIN = 0.1
"""By which Longhaul's goodput may differ from that of netem that loses single segments."""
SYSTEMS = {
    "gso": "netem, GSO on (Linux's default)",
    "single": "netem, GSO off",
    "virtual": "Longhaul, virtual clock, GSO on",
    "simulated": "Longhaul, simulated",
}
SCENARIO = """
version: 1
name: segment-loss
seed: {seed}
duration: {end}s
addresses: ipv4
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: {delay_ms}ms, forward: {{loss: "{loss:%}"{rate}}}}}}}
traffic: {{copy: {{kind: tcp, from: a, to: b, cc: cubic, stop: {seconds}s}}}}
"""
COUNTERS = """
programs:
  before: {{run: cat /proc/net/snmp /proc/net/netstat, host: a, start: {warm_up}s}}
  after: {{run: cat /proc/net/snmp /proc/net/netstat, host: a, start: {seconds}s}}
"""
MSS_BITS = 1448 * 8
"""Payload of a segment with time stamps, in packets of 1500 bytes."""


@dataclass(frozen=True)
class SegmentCounts:
    """Segments and loss events of one flow after it has warmed up."""

    new: int
    """Segments with new data."""
    retransmitted: int
    """Segments: those that were lost, and spurious retransmissions."""
    events: int
    """Loss events: fast recoveries and retransmission timeouts, each of which reduces the window."""

    @property
    def sent(self) -> int:
        """Segments, retransmissions included."""
        return self.new + self.retransmitted

    @property
    def goodput_mbit(self) -> float:
        """Of new data."""
        return self.new * MSS_BITS / (SECONDS - WARM_UP_S) / 1e6


def scenario(*, seed: int, rated: bool, real: bool, seconds: int = SECONDS) -> str:
    """The scenario; with hosts that are ``real``, programs read the sender's counters."""
    rate = f", rate: {RATE_MBIT}Mbit, queue: {QUEUE_PACKETS}p" if rated else ""
    head = SCENARIO.format(
        seed=seed, end=seconds + 1, seconds=seconds, delay_ms=DELAY_MS, loss=LOSS, rate=rate
    )
    return head + (COUNTERS.format(warm_up=WARM_UP_S, seconds=seconds) if real else "")


def netem(*, rated: bool) -> tuple[Stage, Stage]:
    """One netem for each way, as it is commonly written; the rate counts IP bytes."""
    head = f"root handle 1: netem limit {LIMIT_PACKETS if rated else 10**6} delay {DELAY_MS}ms"
    rate = f" rate {RATE_MBIT}mbit -14" if rated else ""
    return Stage("delay", (f"{head} loss {LOSS:%}{rate}",)), Stage("delay", (head,))


def on_virtual_clock(directory: Path, kernel: Kernel, *, seed: int, rated: bool) -> dict[str, SegmentCounts]:
    """Longhaul's link, and netem with and without super-packets."""
    path = directory / "virtual.yaml"
    path.write_text(scenario(seed=seed, rated=rated, real=True), encoding="utf-8")
    result = longhaul.run_live(path, runs=directory, report=False, clock="virtual")
    run = Path(result.directory)
    there, back = netem(rated=rated)
    accepted = replace(
        api.accept(resolve(load_scenario(path))), chains=({"forward": (there,), "reverse": (back,)},)
    )
    found = {"virtual": segment_counts(run / "logs")}
    for name, takes in (("single", False), ("gso", True)):
        api.consult(accepted, run, result.summary, kernel, super_packets=takes)
        found[name] = segment_counts(run / api.DIRECTORY / "logs")
    return found


def simulated(directory: Path, *, seed: int, rated: bool) -> SegmentCounts:
    """The same by the simulator: the whole run, less an equal one that ends after the warm-up."""
    before, after = (
        _simulated(directory, scenario(seed=seed, rated=rated, real=False, seconds=seconds))
        for seconds in (WARM_UP_S, SECONDS)
    )
    new, retransmitted, events = (late - early for early, late in zip(before, after, strict=True))
    return SegmentCounts(new=new, retransmitted=retransmitted, events=events)


def _simulated(directory: Path, text: str) -> tuple[int, int, int]:
    """Segments with new data, retransmissions and loss events of a whole run."""
    path = directory / "simulated.yaml"
    path.write_text(text, encoding="utf-8")
    result = longhaul.run_sim(path, runs=directory, report=False)
    engine = json.loads((Path(result.directory) / "raw" / "engine.json").read_text(encoding="utf-8"))
    (flow,) = engine["flows"]
    retransmitted = flow["retransmits"]
    return flow["segments_sent"] - retransmitted, retransmitted, flow["recoveries"] + flow["timeouts"]


def segment_counts(logs: Path) -> SegmentCounts:
    """What the sender's kernel counted between the two readings."""
    before, after = (
        counters((logs / f"{name}.out").read_text(encoding="utf-8")) for name in ("before", "after")
    )
    counted = {name: after[name] - before[name] for name in after}
    # OutSegs leaves out segments with nothing but data that were sent before.
    return SegmentCounts(
        new=counted["Tcp.OutSegs"],
        retransmitted=counted["Tcp.RetransSegs"],
        events=sum(
            counted[f"TcpExt.{name}"] for name in ("TCPSackRecovery", "TCPLossProbeRecovery", "TCPTimeouts")
        ),
    )


def counters(text: str) -> dict[str, int]:
    """Linux's ``/proc/net/snmp`` and ``netstat``: a line of names, and one of values, for each group."""
    lines = text.splitlines()
    found = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, *columns = names.split()
        found |= {
            f"{group}{name}".replace(":", "."): int(value)
            for name, value in zip(columns, values.split()[1:], strict=True)
        }
    return found


def rows_of(found: Mapping[str, Sequence[SegmentCounts]]) -> list[Row]:
    """Means with half of their intervals, and what of Longhaul's agrees with netem without super-packets."""
    rows = []
    reference = measured([each.goodput_mbit for each in found["single"]]).value
    for name, text in SYSTEMS.items():
        every = found[name]
        goodput = measured([each.goodput_mbit for each in every])
        off = abs(goodput.value / reference - 1)
        rows.append(row(text, goodput.value, "Mbit/s", "", True))
        rows.append(row("  95 % interval", goodput.half_width, "Mbit/s", "", True))
        if name in ("virtual", "simulated"):
            target = f"within {WITHIN * 100:g}"
            rows.append(row("  off netem's without GSO by", off * 100, "%", target, off <= WITHIN))
        for what, shares in (
            ("segments lost of those sent", [each.retransmitted / each.sent for each in every]),
            ("loss events of segments sent", [each.events / each.sent for each in every]),
        ):
            share = measured([value * 100 for value in shares])
            rows.append(row(f"  {what}", share.value, "%", "", True))
            rows.append(row(f"  {what}, 95 % interval", share.half_width, "%", "", True))
        losses = sum(each.retransmitted for each in every) / sum(each.events for each in every)
        rows.append(row("  segments lost in a loss event", losses, "", "", True))
    return rows


def compare(kernel: Kernel, rated: bool, rounds: int) -> list[Row]:
    """Every seed in all four systems."""
    found: dict[str, list[SegmentCounts]] = {name: [] for name in SYSTEMS}
    # One seed has no interval.
    for seed in range(1, max(rounds, 2) + 1):
        with tempfile.TemporaryDirectory(prefix="longhaul-segment-loss-") as temporary:
            directory = Path(temporary)
            for name, each in on_virtual_clock(directory, kernel, seed=seed, rated=rated).items():
                found[name].append(each)
            found["simulated"].append(simulated(directory, seed=seed, rated=rated))
    prefix = f"{RATE_MBIT} Mbit/s" if rated else "no rate"
    return [
        each if each["what"].startswith("  ") else {**each, "what": f"{prefix}, {each['what']}"}
        for each in rows_of(found)
    ]


if __name__ == "__main__":
    try:
        guest = find()
    except LonghaulError as error:
        print(f"bench/segment_loss.py measures nothing: {error}", file=sys.stderr)
        sys.exit(0)
    measure_all(
        __doc__,
        {"no-rate": partial(compare, guest, False), "100-mbit": partial(compare, guest, True)},
        Path(__file__).parent / "segment_loss.json",
        rounds=SEEDS,
    )
