"""What shards bring to a simulation: measured on this machine's processors, and expected on more.

Measured: the same plans in one shard and in two, in turns, real time without building the network; medians.
Two sites, 10 ms apart, with six flows of 1 Gbit/s; a fat tree of 128 hosts with 128 flows, of which packets
take 1 ms at least between pods.

Expected for 2 to 64 processors, of larger networks: by the model that ``longhaul show --shards`` uses, and by
a simulation of the schedule. In it each shard computes window after window, each as long as the model says
and 20 % more or less, and begins one when its neighbours' last but one have ended and it has heard of that.

Writes ``bench/shards.json``.
"""

import json
import time
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import median

from figures import Row, measure_all, row
from networks import Plan, fat_tree, torus, two_sites

from longhaul import _longhaul
from longhaul.run import shards
from longhaul.run.shards import Division, Load, best

MEASURED = {
    "six flows between two sites": lambda: two_sites(60),
    "fat tree of 128 hosts, 128 flows": lambda: fat_tree(128, 10, starts_s=(0, 0.1), ports=8),
}
LARGE = {
    "torus of 100 routers and 800 hosts, 10,000 flows": lambda: torus(10_000, 10, starts_s=(0, 0.1)),
    "fat tree of 1,024 hosts, 10,000 flows": lambda: fat_tree(10_000, 10, starts_s=(0, 0.1)),
}
LEAST_SPEEDUP = 1.7
PROCESSORS = (2, 4, 8, 16, 32, 64)
SPREAD = 0.2
"""Of the time that windows of a shard take."""
SCHEDULED_WINDOWS = 2_000


def run(plan: Plan, count: int) -> tuple[float, str]:
    """Real time and digest of a plan in so many shards."""
    text = json.dumps(plan)
    simulation = _longhaul.Simulation(text, directory=None)
    if count > 1:
        simulation.divide(best(shards.load_of(simulation, text), [count]).partition)
    began = time.perf_counter()
    while not simulation.advance(10_000_000):
        pass
    took_s = time.perf_counter() - began
    return took_s, json.loads(simulation.finish())["digest"]


def measured(rounds: int) -> list[Row]:
    """One shard and two, in turns."""
    rows = []
    for name, made in MEASURED.items():
        plan, digests = made(), set()
        took: dict[int, list[float]] = defaultdict(list)
        for _ in range(rounds):
            for count in (1, 2):
                seconds, digest = run(plan, count)
                took[count].append(seconds)
                digests.add(digest)
        speedup = median(one / two for one, two in zip(took[1], took[2], strict=True))
        expected = best(load(plan), [2]).speedup
        rows += [
            row(f"{name}, one shard", median(took[1]), "s", "", True),
            row(f"{name}, two shards", median(took[2]), "s", "", True),
            row("  times as fast", speedup, "", f"at least {LEAST_SPEEDUP}", speedup >= LEAST_SPEEDUP),
            row("  expected by the model", expected, "", "", True),
            row("  digests", len(digests), "", "equal: 1", len(digests) == 1),
        ]
    return rows


def load(plan: Plan) -> Load:
    """What the simulation of a plan will have to do."""
    text = json.dumps(plan)
    return shards.load_of(_longhaul.Simulation(text, directory=None), text)


def expected(_rounds: int) -> list[Row]:
    """The model and the schedule, for more processors than there are here."""
    rows = []
    for name, made in LARGE.items():
        whole = load(made())
        for count in PROCESSORS:
            division = best(whole, [count])
            rows += [
                row(f"{name}, {count} shards, times as fast: model", division.speedup, "", "", True),
                row("  schedule", scheduled(whole, division), "", "", True),
                row("  least lookahead", division.lookahead_ns / 1e6, "ms", "", True),
            ]
    return rows


def scheduled(whole: Load, division: Division) -> float:
    """How many times as fast as one shard these are, window by window."""
    window_s = division.lookahead_ns / 1e9 / shards.WINDOWS
    neighbours: list[set[int]] = [set() for _ in range(division.shards)]
    for link in division.cut:
        near, far = (division.partition[end] for end in whole.links[link][:2])
        neighbours[near].add(far)
        neighbours[far].add(near)
    rng, ended = Random(1), [[0.0] * shards.WINDOWS for _ in range(division.shards)]
    for number in range(SCHEDULED_WINDOWS):
        now = []
        for shard in range(division.shards):
            # A window needs what its neighbours had sent when they ended the last but one.
            heard = [ended[each][number % shards.WINDOWS] for each in neighbours[shard]]
            known = max(heard, default=0.0) + (shards.MESSAGE_NS / 1e9 if heard else 0.0)
            works = division.work[shard] / 1e9 * window_s * (1 + rng.uniform(-SPREAD, SPREAD))
            works += shards.WINDOW_NS / 1e9
            now.append(max(ended[shard][(number - 1) % shards.WINDOWS], known) + works)
        for shard, at in enumerate(now):
            ended[shard][number % shards.WINDOWS] = at
    taken = max(max(each) for each in ended)
    return whole.total / 1e9 * window_s * SCHEDULED_WINDOWS / taken


if __name__ == "__main__":
    measure_all(__doc__, {"measured": measured, "expected": expected}, Path(__file__).parent / "shards.json")
