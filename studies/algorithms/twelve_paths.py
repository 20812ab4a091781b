"""Twelve paths on which algorithms are compared, as text of the scenario language."""

from dataclasses import dataclass

from two_hosts import two_hosts

SECONDS = 20
TRAFFIC = """  copy: {{kind: tcp, from: a, to: b, cc: {cc}, stop: {stop}s}}
  probe: {{kind: ping, from: a, to: b, every: 50ms}}
"""
MEASURE = "measure: {every: 50ms}\n"


@dataclass(frozen=True)
class Path:
    """One link between two hosts."""

    link: str
    chance: bool = False
    """Whether the link draws random numbers: several seeds are needed."""


PATHS = {
    "100 Mbit/s, 10 ms": Path("delay: 10ms, rate: 100Mbit, queue: 1bdp"),
    "100 Mbit/s, 10 ms, 0.2 BDP": Path("delay: 10ms, rate: 100Mbit, queue: 0.2bdp"),
    "100 Mbit/s, 10 ms, 4 BDP": Path("delay: 10ms, rate: 100Mbit, queue: 4bdp"),
    "100 Mbit/s, 50 ms": Path("delay: 50ms, rate: 100Mbit, queue: 1bdp"),
    "20 Mbit/s, 40 ms": Path("delay: 40ms, rate: 20Mbit, queue: 1bdp"),
    "10 Mbit/s, 2 ms, 30 packets": Path("delay: 2ms, rate: 10Mbit, queue: 30p"),
    "50 Mbit/s, 20 ms, CoDel": Path("delay: 20ms, rate: 50Mbit, queue: {kind: codel}"),
    "100 Mbit/s, 10 ms, loss 0.01 %": Path(
        "delay: 10ms, rate: 100Mbit, queue: 1bdp, loss: 0.01%", chance=True
    ),
    "100 Mbit/s, 10 ms, loss 0.1 %": Path("delay: 10ms, rate: 100Mbit, queue: 1bdp, loss: 0.1%", chance=True),
    "100 Mbit/s, 10 ms, loss 1 %": Path("delay: 10ms, rate: 100Mbit, queue: 1bdp, loss: 1%", chance=True),
    "100 Mbit/s, 50 ms, loss 0.01 %": Path(
        "delay: 50ms, rate: 100Mbit, queue: 1bdp, loss: 0.01%", chance=True
    ),
    "20 Mbit/s, 40 ms, loss 0.1 %": Path("delay: 40ms, rate: 20Mbit, queue: 1bdp, loss: 0.1%", chance=True),
}


def scenario(path: Path, cc: str, *, seed: int, seconds: int = SECONDS) -> str:
    """The scenario of a path and an algorithm."""
    traffic = TRAFFIC.format(cc=cc, stop=seconds - 0.5)
    return two_hosts("algorithms", seed=seed, seconds=seconds, link=path.link, traffic=traffic, more=MEASURE)
