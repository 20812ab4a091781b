"""What is simulated: variants of TCP, readings of the measured loss, and the sweeps that cross them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SCENARIO = Path(__file__).parent / "teragrid.yaml"
CROSS = ("x1", "x2", "x3", "x4", "x5")
STREAMS = (2, 4, 8, 16)
SEEDS, SEEDS_BESIDE = 20, 8
"""Of each point; beside five flows, which takes six times as long."""
SEEDS_FULL = 72
"""At most, of each point of the full study, which has 30,000 trials then."""
WITHIN = 0.05
"""Of the mean goodput: half of the 95 % interval with which the full study stops to add seeds."""
LOSS = "links.la-chi.forward.loss"
MAIN = "traffic.main"
BACKBONE = "links.la-chi.delay"

Variant = tuple[str, Mapping[str, Any]]
"""A name, and the flow that has it."""


def _weibull(shape: float, scale: str | float, **unit: Any) -> Mapping[str, Any]:
    return {"model": "renewal", **unit, "gap": {"dist": "weibull", "shape": shape, "scale": scale}}


READINGS: Mapping[str, Mapping[str, Any]] = {
    "minutes": {"preset": "teragrid"},
    "seconds": _weibull(2.9, "300ms", unit="wall", lasts="65ms"),
    "seconds, waiting": {"preset": "teragrid-literal-seconds"},
    "rate": _weibull(2.9, "3333.3ms", unit="wall", lasts="65ms"),
    "swapped": _weibull(0.3, "2900ms", unit="wall", lasts="65ms"),
    "busy-10g": {"preset": "teragrid-busy-10g"},
    "busy-1g": _weibull(2.9, "300ms", unit="busy", rate="1Gbit"),
    "busy-2m": _weibull(2.9, "300ms", unit="busy", rate="2Mbit"),
    "packets": _weibull(2.9, 100_000, unit="packets"),
}
"""Ways to read "shape 2.9, scale 0.3", which the paper leaves without a unit."""

MEANINGS: Mapping[str, str] = {
    "fitted": "what was fitted to the capture, by the clock",
    "minutes": "scale 0.3 minutes by the clock, one loss in 16 s",
    "seconds": "scale 0.3 s by the clock, as written: 3.7 losses a second, unless no packet comes for 65 ms",
    "seconds, waiting": "the same, and the next packet is lost however late it comes",
    "rate": "0.3 is the Weibull's rate in 1/s: scale 3.33 s by the clock",
    "swapped": "shape 0.3, scale 2.9 s by the clock, as ns-2.35 takes the two numbers",
    "busy-10g": "0.3 s of transmission at 10 Gbit/s: one loss in 37,000 packets",
    "busy-1g": "0.3 s of transmission at 1 Gbit/s: one loss in 3,700 packets",
    "busy-2m": "0.3 s of transmission at ns-2's default of 2 Mbit/s: one loss in 7 packets",
    "packets": "scale 100,000 packets, for comparison",
}


def _flow(source: str = "sdsc1", *, flows: int = 1, **algorithm: Any) -> Mapping[str, Any]:
    return {"kind": "tcp", "from": source, "to": "purdue1", "cc": algorithm, "flows": flows}


SACK: Variant = ("SACK", _flow(algorithm="reno"))
ALGORITHMS: tuple[Variant, ...] = (
    SACK,
    ("Reno", _flow("sdsc2", algorithm="reno")),
    # Linux 2.6 counted acknowledgements, so that its factor for delayed ones gave each segment its growth.
    ("BIC", _flow(algorithm="bic", delayed_acks=False)),
    ("CUBIC", _flow(algorithm="cubic")),
    ("FAST", _flow(algorithm="fast")),
    ("Compound", _flow(algorithm="compound")),
    ("H-TCP", _flow(algorithm="htcp")),
    ("HighSpeed", _flow(algorithm="highspeed")),
    ("Scalable", _flow(algorithm="scalable")),
)
PARALLEL: tuple[Variant, ...] = tuple((f"{n} x SACK", _flow(algorithm="reno", flows=n)) for n in STREAMS)
STOCHASTIC_ONE: tuple[Variant, ...] = tuple(
    (f"Stochastic {n}", _flow(algorithm="stochastic", streams=n, phi=1)) for n in STREAMS
)
STOCHASTIC_N: tuple[Variant, ...] = tuple(
    (f"Stochastic {n}", _flow(algorithm="stochastic", streams=n, phi=n)) for n in STREAMS
)


@dataclass(frozen=True)
class Plan:
    """One sweep: every variant under every reading, with ``seeds`` seeds each."""

    name: str
    loss: Mapping[str, Mapping[str, Any]]
    variants: tuple[Variant, ...]
    seeds: int
    queue: str = "1000p"
    seconds: int = 1000
    cross: str | None = None
    """``shared``: five flows to the host where the sixth goes; ``apart``: to hosts of their own."""
    round_trips_ms: tuple[int, ...] = (65,)
    most_seeds: int | None = None
    """To which seeds are added, until the goodput is known within ``WITHIN``; None: none are added."""

    @property
    def settings(self) -> dict[str, str]:
        """The parameters of the scenario."""
        return {"queue": self.queue}

    @property
    def trials(self) -> int:
        """With the least number of seeds."""
        return len(list(self.keys())) * self.seeds

    @property
    def most_trials(self) -> int:
        """With the largest number of seeds."""
        return len(list(self.keys())) * (self.most_seeds or self.seeds)

    @property
    def until(self) -> str | None:
        """When each point has enough seeds, as ``longhaul sweep --until`` takes it."""
        if self.most_seeds is None:
            return None
        return f"flows.main.goodput ±{100 * WITHIN:g}%, at most {self.most_seeds}"

    @property
    def text(self) -> str:
        """The scenario."""
        text = SCENARIO.read_text(encoding="utf-8").replace("duration: 1000s", f"duration: {self.seconds}s")
        flow = "  {0}: {{kind: tcp, from: {0}, to: {1}, cc: reno, start: {2}ms}}\n"
        for number, name in enumerate(CROSS if self.cross else (), start=1):
            to = "purdue1" if self.cross == "shared" else f"purdue{number + 1}"
            text += flow.format(name, to, 100 * number)
        return text

    @property
    def axes(self) -> dict[str, list[Any]]:
        return {
            LOSS: list(self.loss.values()),
            BACKBONE: [f"{each / 2 - 6:g}ms" for each in self.round_trips_ms],
            MAIN: [flow for _name, flow in self.variants],
        }

    def keys(self) -> Iterator[tuple[str, int, str]]:
        """Reading, round trip and variant, in the order of the sweep's variants."""
        for reading in self.loss:
            for round_trip in self.round_trips_ms:
                for name, _flow in self.variants:
                    yield reading, round_trip, name


def _some(*names: str) -> Mapping[str, Mapping[str, Any]]:
    return {name: READINGS[name] for name in names}


def _named(*names: str) -> tuple[Variant, ...]:
    return tuple(each for each in ALGORITHMS if each[0] in names)


def plans(
    fitted: Mapping[str, Any], *, full: bool, seeds: int | None = None, seconds: int = 1000
) -> tuple[Plan, ...]:
    """All sweeps of the study; ``fitted`` is the loss that comes out of the capture.

    ``seeds`` and ``seconds`` are for trying things out.
    """
    seeds_beside = seeds or SEEDS_BESIDE
    most_seeds = SEEDS_FULL if full and seeds is None else None
    seeds = seeds or (SEEDS_BESIDE if full else SEEDS)
    alone = (*ALGORITHMS, *STOCHASTIC_ONE, *PARALLEL)
    beside = (*ALGORITHMS, *STOCHASTIC_N)
    main = _some("minutes", "seconds") if not full else READINGS
    every = (
        Plan("validation", {"fitted": fitted}, (SACK,), 83),
        Plan("readings", READINGS, (SACK,), seeds),
        Plan(
            "round-trips",
            _some("minutes", "busy-10g", "packets"),
            (SACK,),
            seeds,
            round_trips_ms=(60, 70),
        ),
        Plan("alone", main, alone, seeds),
        Plan("long-apart", _some("seconds"), beside, seeds_beside, cross="apart"),
        Plan(
            "apart-minutes",
            _some("minutes"),
            _named("SACK", "BIC", "Compound", "Scalable"),
            seeds if full else min(seeds, 3),
            cross="apart",
        ),
        Plan("long", main, beside, seeds_beside, cross="shared"),
        Plan("short", main, beside, seeds_beside, queue="50p", cross="shared"),
    )
    return tuple(
        replace(plan, seconds=seconds, most_seeds=None if plan.name == "validation" else most_seeds)
        for plan in every
    )
