"""What the trials gave: goodputs by sweep, reading, round trip and variant."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean, stdev

from trials import Plan

from longhaul.analysis.estimates import Estimate, estimate
from longhaul.sweeps.sweep import Swept


@dataclass(frozen=True)
class Cell:
    """The trials of one variant, by seed; rates in bit/s. The first seeds are those of all variants."""

    main: tuple[float, ...]
    cross: tuple[float, ...]
    """The five others together; zeros where there are none."""
    jain: tuple[float, ...]
    """Jain's index of all six."""
    digests: tuple[str, ...]
    """Of the results of each trial."""

    @property
    def mbits(self) -> float:
        return mean(self.main) / 1e6

    @property
    def sd_mbits(self) -> float:
        return stdev(self.main) / 1e6

    @property
    def cross_mbits(self) -> float:
        return mean(self.cross) / 1e6

    @property
    def cross_sd_mbits(self) -> float:
        return stdev(self.cross) / 1e6


Cells = Mapping[tuple[str, str, int, str], Cell]
"""By sweep, reading, round trip in ms, variant."""


@dataclass(frozen=True)
class Results:
    """All cells, and what they took."""

    cells: Cells
    trials: int
    hops: int
    sweeps: Mapping[str, str]
    """Where each sweep lies."""

    def cell(self, sweep: str, reading: str, variant: str, *, round_trip_ms: int = 65) -> Cell:
        return self.cells[sweep, reading, round_trip_ms, variant]

    def seeds(self, sweep: str) -> str:
        """How many seeds the points of a sweep have."""
        found = sorted(len(cell.main) for key, cell in self.cells.items() if key[0] == sweep)
        return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"

    def stolen(self, sweep: str, reading: str, variant: str) -> Estimate:
        """The share of what the five have beside SACK that they lose beside ``variant``, seed by seed."""
        ours, base = (self.cell(sweep, reading, each) for each in (variant, "SACK"))
        # One of them may have more seeds than the other.
        pairs = list(zip(ours.cross, base.cross, strict=False))
        whole = mean(beside for _, beside in pairs)
        both = [" ".join(pair) for pair in zip(ours.digests, base.digests, strict=False)]
        return estimate([(beside - own) / whole for own, beside in pairs], both)


def collect(plans: tuple[Plan, ...], run: Callable[[Plan], Swept]) -> Results:
    """Run every sweep. Raises LonghaulError, or SystemExit where trials failed."""
    cells: dict[tuple[str, str, int, str], Cell] = {}
    trials = hops = 0
    places = {}
    for plan in plans:
        swept = run(plan)
        if swept.exit_code:
            raise SystemExit(swept.exit_code)
        places[plan.name] = str(swept.directory)
        found, counted = _cells(plan, swept)
        trials += sum(len(cell.main) for cell in found.values())
        hops += counted
        cells |= found
    return Results(cells, trials, hops, places)


def _cells(plan: Plan, swept: Swept) -> tuple[dict[tuple[str, str, int, str], Cell], int]:
    table = swept.table("parts")
    rates: dict[int, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    hops: dict[tuple[int, int], int] = {}
    digests: dict[tuple[int, int], str] = {}
    names = ("variant", "repeat", "item", "goodput_bits_per_s", "hops", "digest")
    for variant, repeat, item, goodput, counted, digest in zip(*(table[name] for name in names), strict=True):
        hops[variant, repeat], digests[variant, repeat] = counted, digest
        if item.startswith("flows."):
            rates[variant][repeat][item] = goodput
    cells = {}
    for variant, key in enumerate(plan.keys()):
        seeds = sorted(rates[variant])
        by_seed = [rates[variant][seed] for seed in seeds]
        cells[plan.name, *key] = Cell(
            main=tuple(each["flows.main"] for each in by_seed),
            cross=tuple(sum(each.values()) - each["flows.main"] for each in by_seed),
            jain=tuple(_jain(list(each.values())) for each in by_seed),
            digests=tuple(digests[variant, seed] for seed in seeds),
        )
    return cells, sum(hops.values())


def _jain(rates: list[float]) -> float:
    return sum(rates) ** 2 / (len(rates) * sum(each**2 for each in rates))
