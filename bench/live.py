"""How good live emulation is on this machine, as ratios to a direct veth in the same run.

Every figure is a median of interleaved rounds: direct, emulated, direct, emulated. Writes
``bench/live.json`` and prints one line for each figure with its target.
"""

import tempfile
import time
from math import sqrt
from pathlib import Path
from statistics import median

import numpy as np
from figures import Row, measure_all, row

import longhaul
from longhaul.calibrate import plans
from longhaul.calibrate.direct import direct_ping, direct_tcp
from longhaul.calibrate.probe import Measured, measure
from longhaul.scenario.lower.compensation import compensate

DELAYS_US = (0, 50, 100, 250, 1_000, 10_000)
UDP_RATES = (50_000_000, 200_000_000, 500_000_000)
SIMULATED_HOPS = (100_000, 1_000_000, 3_000_000, 6_000_000)


def ping_plan(delay_us: int, count: int = 300) -> plans.Plan:
    """The plan behind `longhaul shell --delay ... -- ping -c 300 -i 0.005 far`."""
    return plans.pair(delay_ns=delay_us * 1000, programs=[plans.ping(count=count, interval_s=0.005)])


def round_trips(rounds: int) -> list[Row]:
    """Excess of the median RTT over twice the delay plus a direct veth's RTT."""
    direct: list[float] = []
    direct_p99: list[float] = []
    plain: dict[int, list[float]] = {delay: [] for delay in DELAYS_US}
    plain_p99: list[float] = []
    for _ in range(rounds):
        for delay in DELAYS_US:
            pings = direct_ping(count=200)
            direct.append(median(pings))
            direct_p99.append(float(np.percentile(pings, 99)))
            # A p99 needs more of them.
            rtts = measure(ping_plan(delay, count=300 if delay else 1_000)).rtts_s()
            plain[delay].append(median(rtts))
            if delay == 0:
                plain_p99.append(float(np.percentile(rtts, 99)))
    wire = median(direct)
    base_ns = max(round((median(plain[0]) - wire) / 2 * 1e9), 0)
    rows = [
        row("direct veth RTT", wire * 1e6, "us", "", True),
        row("base latency, one way", base_ns / 1e3, "us", "", True),
        row("direct veth RTT, p99", median(direct_p99) * 1e6, "us", "", True),
        row("RTT at 0 us, p99", median(plain_p99) * 1e6, "us", "", True),
    ]
    for delay in DELAYS_US:
        excess = (median(plain[delay]) - wire) * 1e6 - 2 * delay
        rows.append(row(f"RTT excess at {delay} us", excess, "us", "within 25", abs(excess) <= 25))
    for delay in DELAYS_US:
        plan, _ = compensate(ping_plan(delay), base_ns)
        rtts = [median(measure(plan).rtts_s()) for _ in range(rounds)]
        excess = (median(rtts) - wire) * 1e6 - 2 * delay
        rows.append(row(f"RTT excess at {delay} us, compensated", excess, "us", "within 5", abs(excess) <= 5))
    return rows


def lateness(rounds: int) -> list[Row]:
    """Lateness at 2,000 packets/s on an otherwise idle host."""
    plan = plans.pair(delay_ns=1_000_000, programs=[plans.ping(count=5_000, interval_s=0.001)])
    runs = [measure(plan) for _ in range(rounds)]
    p50, p99 = (median(run.lateness_ns(q) for run in runs) / 1e3 for q in ("p50", "p99"))
    gaps = median(run.engine["gaps"]["count"] / (run.engine["duration_ns"] / 1e9) for run in runs)
    return [
        row("lateness at 2,000 packets/s, p50", p50, "us", "at most 1", p50 <= 1),
        row("lateness at 2,000 packets/s, p99", p99, "us", "at most 20", p99 <= 20),
        row("scheduling stalls over 100 us", gaps, "a second", "", True),
    ]


def throughput(rounds: int) -> list[Row]:
    """One TCP flow (cubic) against a direct veth."""
    direct, zero, far = [], [], []
    for _ in range(rounds):
        direct.append(direct_tcp(seconds=4))
        zero.append(measure(plans.pair(programs=plans.tcp(seconds=4))).goodput())
        far.append(measure(plans.pair(delay_ns=10_000_000, programs=plans.tcp(seconds=6))).goodput())
    near_ratio = median(a / b for a, b in zip(zero, direct, strict=True))
    far_ratio = median(a / b for a, b in zip(far, direct, strict=True))
    return [
        row("direct veth, one TCP flow", median(direct) / 1e9, "Gbit/s", "", True),
        row("one TCP flow at 0 ms", median(zero) / 1e9, "Gbit/s", "", True),
        row("  of a direct veth", near_ratio, "", "at least 0.8", near_ratio >= 0.8),
        row("one TCP flow at 10 ms one way", median(far) / 1e9, "Gbit/s", "", True),
        row("  of a direct veth", far_ratio, "", "at least 0.5", far_ratio >= 0.5),
    ]


def loaded(rounds: int) -> list[Row]:
    """Lateness of the packets of one TCP flow that fills a fast link of 10 ms, and what the engine did."""
    rows = []
    for gbit in (1, 5, 10):
        rate = gbit * 10**9
        plan = plans.pair(
            delay_ns=10_000_000, bits_per_s=rate, queue_bytes=rate // 400, programs=plans.tcp(seconds=5)
        )
        runs = [measure(plan) for _ in range(rounds)]
        p99 = median(run.lateness_ns("p99") for run in runs) / 1e3
        share = median(run.goodput() / (rate * 1448 / 1500) for run in runs)
        most_us = 200 if gbit > 1 else 100
        what = f"{gbit} Gbit/s over 10 ms"
        rows += [
            row(f"{what}, lateness p99", p99, "us", f"at most {most_us}", p99 <= most_us),
            row(f"{what}, goodput of the link's", share, "", "", True),
        ]
        for name, text in (("busy_ns", "engine at work"), ("write_ns", "engine writing to hosts")):
            taken = median(run.engine["work"][name] / run.engine["duration_ns"] for run in runs) * 100
            rows.append(row(f"{what}, {text}", taken, "% of the time", "", True))
        stalled = median(run.engine["gaps"]["total_ns"] / run.engine["duration_ns"] for run in runs) * 100
        rows.append(row(f"{what}, scheduling stalls", stalled, "% of the time", "", True))
    return rows


DATAGRAMS = """
version: 1
name: datagrams
seed: 1
duration: 4s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 1ms}}
traffic:
  there: {kind: udp, from: near, to: far, rate: THERE, size: 100B, stop: 3s}
  back: {kind: udp, from: far, to: near, rate: THERE, size: 100B, stop: 3s}
"""
BACKGROUND = """  noise: {kind: udp, from: near, to: far, rate: 8Gbit, size: 1000B, stop: 3s, simulated: true}
"""
SMALL_RATES = (20_000, 50_000, 100_000, 200_000, 400_000)
"""Datagrams of 100 bytes a second, each way."""


def datagrams(rounds: int) -> list[Row]:
    """Small datagrams both ways: the rate without a loss; 100,000/s beside a million simulated ones."""
    best = 0
    for rate in SMALL_RATES:
        if median(small_datagrams(rate) for _ in range(rounds)) > 0:
            break
        best = rate
    both = 2 * best / 1e3
    rows = [row("datagrams of 100 B both ways without a loss", both, "k/s", "at least 100", both >= 100)]
    beside = median(small_datagrams(50_000, background=True) for _ in range(rounds))
    what = "lost of 100 k/s real datagrams beside 1 M/s simulated ones"
    return [*rows, row(what, beside * 100, "%", "0", beside == 0)]


def small_datagrams(rate: int, *, background: bool = False) -> float:
    """The share of datagrams of 100 bytes that was lost, of ``rate`` a second each way."""
    text = DATAGRAMS.replace("THERE", f"{rate * 800 / 1e6:g}Mbit") + (BACKGROUND if background else "")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "datagrams.yaml"
        path.write_text(text, encoding="utf-8")
        result = longhaul.run_live(path, runs=Path(directory) / "runs", report=False)
        return max(flow["loss"] for flow in result.summary["flows"] if not flow["simulated"])


CROWD = """
version: 1
name: crowd
seed: 1
duration: 10s
profiles: {lan: {delay: 50us, rate: 1Gbit}}
nodes: {core: {kind: router}, "h1..1000": {kind: host, attach: core, profile: lan}}
traffic: {probe: {kind: ping, from: h1, to: h1000, every: 100ms}}
"""
CROWD_RUN_S = 10


def crowd(_rounds: int) -> list[Row]:
    """What a run of 1,000 hosts takes beyond its duration: hosts, results and report."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "crowd.yaml"
        path.write_text(CROWD, encoding="utf-8")
        began_s = time.monotonic()
        result = longhaul.run_live(path, runs=Path(directory) / "runs")
        beyond_s = time.monotonic() - began_s - CROWD_RUN_S
        p99_us = result.summary["fidelity"]["lateness"]["p99_ns"] / 1e3
    return [
        row("1,000 hosts live, wall time beyond the run", beyond_s, "s", "at most 1.3", beyond_s <= 1.3),
        row("1,000 hosts live, lateness p99", p99_us, "us", "at most 100", p99_us <= 100),
    ]


def exactness(rounds: int) -> list[Row]:
    """Loss and rate of single segments under super-packets."""
    share = 0.001
    runs = [measure(plans.pair(loss=share, programs=plans.tcp(seconds=3))) for _ in range(rounds)]
    forwards = [run.engine["links"][0]["forward"] for run in runs]
    offered = sum(each["offered_packets"] for each in forwards)
    lost = sum(each["lost_packets"] for each in forwards)
    deviations = (lost - share * offered) / sqrt(offered * share * (1 - share))
    rows = [row("0.1 % loss at full speed, off by", deviations, "sd", "within 3", abs(deviations) <= 3)]
    for bits_per_s in (100_000_000, 1_000_000_000):
        goodputs = [steady_goodput(measure(rated(bits_per_s))) for _ in range(rounds)]
        error = (median(goodputs) / (bits_per_s * 1448 / 1500) - 1) * 100
        rows.append(
            row(
                f"goodput at {bits_per_s / 1e6:g} Mbit/s, off by", error, "%", "within 0.5", abs(error) <= 0.5
            )
        )
    return rows


def rated(bits_per_s: int) -> plans.Plan:
    """A link with a rate, a short delay and a queue that a TCP flow can live with."""
    return plans.pair(delay_ns=1_000_000, bits_per_s=bits_per_s, programs=plans.tcp(seconds=6))


def steady_goodput(run: Measured) -> float:
    """Mean rate between the first second and the last, at the receiver's side of the link."""
    from_link = run.engine["links"][0]["forward"]["delivered_packets"]
    assert from_link > 0
    intervals = [each["sum"]["bits_per_second"] for each in run.iperf()["intervals"][2:-1]]
    return sum(intervals) / len(intervals)


def unconfigured_loss(rounds: int) -> list[Row]:
    """UDP at 10 ms within capacity: nothing may be missing."""
    rows = []
    for rate in UDP_RATES:
        runs = [
            measure(plans.pair(delay_ns=10_000_000, programs=plans.udp(seconds=3, bits_per_s=rate)))
            for _ in range(rounds)
        ]
        lost = sum(run.iperf()["end"]["sum"]["lost_packets"] for run in runs)
        rows.append(row(f"UDP lost at {rate / 1e6:g} Mbit/s", lost, "packets", "0", lost == 0))
    return rows


def spacing(rounds: int) -> list[Row]:
    """Gaps between the packets of a TCP flow through a rate: how far they are from 8 x bytes / rate."""
    rows = []
    for bits_per_s in (100_000_000, 1_000_000_000):
        for mtu in (1500, 9000):
            plan = plans.pair(
                delay_ns=1_000_000, bits_per_s=bits_per_s, mtu=mtu, programs=plans.tcp(seconds=3)
            )
            runs = [measure(plan).engine["spacing"]["links"]["wan/forward"] for _ in range(rounds)]
            gap_us = mtu * 8e6 / bits_per_s
            p50, p99 = (median(run[f"{quantile}_ns"] for run in runs) / 1e3 for quantile in ("p50", "p99"))
            what = f"gaps of {gap_us:g} us ({bits_per_s / 1e6:g} Mbit/s, {mtu} B)"
            rows.append(row(f"{what}, p50", p50, "us off", "at most 1", p50 <= 1))
            rows.append(row(f"{what}, p99", p99, "us off", "", True))
    return rows


def simulated(rounds: int) -> list[Row]:
    """Lateness of a real ping over four links beside simulated datagrams of eight Poisson flows."""
    rows = []
    for hops_per_s in SIMULATED_HOPS:
        flows = [poisson(number, hops_per_s // (4 * 8)) for number in range(8)]
        plan = {**plans.chain(3), "flows": flows}
        plan["programs"] = [plans.ping(count=1_500, interval_s=0.002)]
        p99 = median(measure(plan).lateness_ns("p99") for _ in range(rounds)) / 1e3
        # How much a machine carries is for it to say; the first two are what any should.
        target = "at most 50" if hops_per_s <= 1_000_000 else ""
        what = f"ping beside {hops_per_s / 1e6:g} M simulated hops/s, p99"
        rows.append(row(what, p99, "us late", target, not target or p99 <= 50))
    return rows


def poisson(number: int, packets_per_s: int) -> dict[str, object]:
    """A simulated flow of datagrams of 1,000 bytes from one end to the other."""
    return {
        "name": f"noise{number}",
        "source": 0,
        "destination": 1,
        "start_ns": 0,
        "stop_ns": None,
        "simulated": True,
        "traffic": {
            "kind": "udp",
            "bits_per_s": packets_per_s * 8_000,
            "payload_bytes": 1_000,
            "bytes": None,
            "arrivals": "poisson",
        },
    }


if __name__ == "__main__":
    measure_all(
        __doc__,
        {
            "round-trips": round_trips,
            "lateness": lateness,
            "throughput": throughput,
            "loaded": loaded,
            "datagrams": datagrams,
            "crowd": crowd,
            "exactness": exactness,
            "unconfigured-loss": unconfigured_loss,
            "spacing": spacing,
            "simulated": simulated,
        },
        Path(__file__).parent / "live.json",
    )
