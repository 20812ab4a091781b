"""Instances that several tests plan."""

import random

from longhaul.transfers.plan import Instance, Link, Network, Point, Request, access_points, instance

GBIT = 1e9
MB, GB = 10**6, 10**9


def two_sources(volume_bytes: int, *, deadline_s: float = 60.0) -> Instance:
    """eWAN's transport service: two sources behind one access link of 1 Gbit/s, two sinks at two sites."""
    network = access_points({name: Point(GBIT, GBIT) for name in ("lan", "sink1", "sink2")})
    requests = [
        Request(
            name=f"r{number}",
            source="lan",
            destination=f"sink{number}",
            volume_bytes=volume_bytes,
            deadline_s=deadline_s,
            max_bits_per_s=GBIT,
        )
        for number in (1, 2)
    ]
    return instance(requests, network=network)


def line(capacities: list[float]) -> Network:
    """Places 0, 1, ... in a row, with a link from each to the next only."""
    links = tuple(Link(f"{index}-{index + 1}", each) for index, each in enumerate(capacities))
    places = tuple(str(index) for index in range(len(capacities) + 1))
    return Network(places, links, lambda a, b: tuple(range(int(a), int(b))) if int(a) < int(b) else None)


def some(seed: int, *, requests: int, rigid: bool = False) -> Instance:
    """A few requests that compete for three access points."""
    draw = random.Random(seed)
    points = {name: Point(draw.choice([1e9, 2e9]), draw.choice([1e9, 2e9])) for name in "abc"}
    made = []
    for number in range(requests):
        source, destination = draw.sample("abc", 2)
        release_s = float(draw.randrange(6))
        window_s = float(draw.randrange(1, 9))
        rate = draw.uniform(0.2e9, 1e9)
        volume = max(1, int(rate * window_s / 8 * (1 if rigid else draw.uniform(0.3, 1))))
        most = 8 * volume / window_s if rigid else rate
        made.append(
            Request(
                name=f"r{number}",
                source=source,
                destination=destination,
                volume_bytes=volume,
                release_s=release_s,
                deadline_s=release_s + window_s,
                max_bits_per_s=most,
            )
        )
    return instance(made, network=access_points(points))
