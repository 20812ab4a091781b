"""Random requests: Poisson arrivals, volumes of the transport-service papers, windows by a slack."""

from dataclasses import dataclass

import numpy as np

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.transfers.plan.instances import Point, Request

VOLUMES_GB = (*range(10, 100, 10), *range(100, 1001, 100))
"""10, 20, ... 90, 100, 200, ... 900 GB and 1 TB, each as likely as any."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The distributions that requests are drawn from."""

    count: int = 100
    gap_s: float = 300.0
    """Mean of the exponential gaps between releases."""
    points: int = 10
    """Access points, each way; a request goes from one to another."""
    point_bits_per_s: float = 1e9
    least_bits_per_s: float = 80e6
    """Greatest rates of requests are uniform from here ..."""
    most_bits_per_s: float = 8e9
    """... to here; what is above the access points' rate makes many windows too short."""
    least_slack: float = 1.0
    """A window lasts as long as the transfer at its greatest rate, times a uniform slack from here ..."""
    most_slack: float = 4.0
    """... to here."""

    def __post_init__(self) -> None:
        """Raise :class:`LonghaulError` for distributions that there are not."""
        checks = (
            (self.count >= 1, "no request is asked for", "ask for one or more"),
            (self.gap_s > 0, "the gap between requests is not positive", "give it more than zero"),
            (self.points >= 2, "one access point has nowhere to send to", "have two or more"),
            (
                0 < self.least_bits_per_s <= self.most_bits_per_s,
                "the rates are not a range",
                "begin with the least",
            ),
            (
                1 <= self.least_slack <= self.most_slack,
                "the slacks are not a range from 1",
                "begin with the least",
            ),
        )
        for good, message, remedy in checks:
            if not good:
                raise LonghaulError(Code.ARGUMENT_INVALID, message, remedy=remedy, exit_code=2)


def generate(workload: Workload, *, seed: int) -> tuple[dict[str, Point], tuple[Request, ...]]:
    """Access points and requests, in the order of release; equal for equal arguments."""
    rng = np.random.Generator(np.random.PCG64(seed))
    count = workload.count
    names = [f"p{number}" for number in range(1, workload.points + 1)]
    releases = np.cumsum(rng.exponential(workload.gap_s, count))
    sources = rng.integers(workload.points, size=count)
    destinations = (sources + rng.integers(1, workload.points, size=count)) % workload.points
    volumes = rng.choice(np.array(VOLUMES_GB), size=count)
    rates = rng.uniform(workload.least_bits_per_s, workload.most_bits_per_s, count)
    slacks = rng.uniform(workload.least_slack, workload.most_slack, count)
    requests = []
    for number in range(count):
        volume_bytes, rate = int(volumes[number]) * 10**9, float(round(rates[number]))
        # Whole microseconds, so that a file keeps what was drawn; windows are never rounded to less.
        release_us = round(releases[number] * 1e6)
        window_us = int(np.ceil(volume_bytes * 8e6 / rate * slacks[number]))
        requests.append(
            Request(
                name=f"r{number + 1}",
                source=names[sources[number]],
                destination=names[destinations[number]],
                volume_bytes=volume_bytes,
                release_s=release_us / 1e6,
                deadline_s=(release_us + window_us) / 1e6,
                max_bits_per_s=rate,
            )
        )
    point = Point(workload.point_bits_per_s, workload.point_bits_per_s)
    return dict.fromkeys(names, point), tuple(requests)
