"""The verdicts on the claims of the paper's sections 5, 6 and 6.1: what each is under every condition."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean, median, stdev

from results import Results
from trials import ALGORITHMS, PARALLEL, STOCHASTIC_N, STOCHASTIC_ONE, STREAMS

from longhaul.analysis.estimates import Estimate
from longhaul.analysis.fitting import fit_gaps
from longhaul.studies import Case, StudyFolder, between, holds_if, measured, near

_STUDY = StudyFolder(Path(__file__).parent)
NUMBERS = _STUDY.claims.numbers
MOST_WITH_LONG, MOST_WITH_SHORT = (
    frozenset(str(each.x) for each in _STUDY.paper.values(figure, "the three with most")) for figure in "34"
)
"""Variants with the highest throughput in figures 3 and 4."""
MEASURED_MBITS, SIMULATED_MBITS, SIMULATED_SD, NEAR = (
    NUMBERS("sack-mean")[each] for each in ("measured_mbits", "simulated_mbits", "simulated_sd", "near")
)
STEALS = NUMBERS("bic-takes")["taken"]
"""Of what the others have: less is not a theft that anybody would notice."""
SIMILAR = NUMBERS("stochastic-as-parallel")["within"]
Evaluated = tuple[str, tuple[Case, ...]]
"""The id of a claim, and what was found under each condition."""
AGGRESSIVE = ("H-TCP", "BIC", "CUBIC", "HighSpeed", "Scalable")
FAIR = ("Compound", "SACK", "Reno", *(name for name, _flow in STOCHASTIC_N))
ALGORITHM_NAMES = tuple(name for name, _flow in ALGORITHMS)


@dataclass(frozen=True)
class Condition:
    """A sweep with cross traffic under one reading."""

    sweep: str
    reading: str

    @property
    def name(self) -> str:
        places = {"long": "long queue", "short": "short queue", "long-apart": "long queue, own sinks"}
        return f"{places[self.sweep]}, {self.reading}"


def verdicts(results: Results) -> list[Evaluated]:
    """Every claim of the study with what was found; each condition is a reading of the loss and a queue."""
    return [*_validation(results), *_alone(results), *_beside(results)]


def slug(name: str) -> str:
    """A variant's name in the ids of claims."""
    return name.lower().replace(" ", "-")


def _validation(results: Results) -> list[Evaluated]:
    cell = results.cell("validation", "fitted", "SACK")
    rates = [each / 1e6 for each in cell.main]
    fits = fit_gaps(rates, seed=1, replicates=199)
    said = f"{mean(rates):.1f} Mbit/s, median {median(rates):.1f}, sd {stdev(rates):.1f}"
    one = "83 trials, loss fitted to the capture"
    factor = NUMBERS("sack-deviation")["factor"]
    wakeby = NUMBERS("wakeby")
    readings = []
    for reading in sorted({key[1] for key in results.cells if key[0] == "readings"}):
        found = measured([each / 1e6 for each in results.cell("readings", reading, "SACK").main])
        readings.append(near(reading, found, MEASURED_MBITS, NEAR, "Mbit/s"))
    return [
        (
            "sack-mean",
            (
                between(
                    one,
                    measured(rates),
                    max(SIMULATED_MBITS - SIMULATED_SD, (1 - NEAR) * MEASURED_MBITS),
                    min(SIMULATED_MBITS + SIMULATED_SD, (1 + NEAR) * MEASURED_MBITS),
                    "Mbit/s",
                ),
            ),
        ),
        (
            "sack-deviation",
            (holds_if(one, SIMULATED_SD / factor <= stdev(rates) <= SIMULATED_SD * factor, said),),
        ),
        (
            "wakeby",
            (
                holds_if(
                    one,
                    next(fit for fit in fits.fits if fit.easyfit_rank == 1).family == "wakeby"
                    and abs(median(rates) / wakeby["median_mbits"] - 1) <= wakeby["within"],
                    f"smallest A2: {next(fit for fit in fits.fits if fit.easyfit_rank == 1).family}; "
                    f"first with p-values: {fits.fits[0].family}; {said}",
                ),
            ),
        ),
        ("published-loss", tuple(readings)),
    ]


def _alone(results: Results) -> list[Evaluated]:
    similar, better = [], []
    for reading in _readings(results, "alone"):
        ratios = {
            streams: results.cell("alone", reading, one).mbits / results.cell("alone", reading, many).mbits
            for streams, (one, _), (many, _) in zip(STREAMS, STOCHASTIC_ONE, PARALLEL, strict=True)
        }
        detail = ", ".join(f"{streams}: {ratio - 1:+.0%}" for streams, ratio in ratios.items())
        holds = all(abs(ratio - 1) <= SIMILAR for ratio in ratios.values())
        similar.append(holds_if(reading, holds, f"Stochastic against parallel, by N: {detail}"))
        better.append(_many_improve(results, "alone", reading, reading))
    return [
        ("stochastic-as-parallel", tuple(similar)),
        ("many-improve", tuple(better)),
    ]


def _many_improve(results: Results, sweep: str, reading: str, condition: str) -> Case:
    base = max(results.cell(sweep, reading, each).mbits for each in ("SACK", "Reno"))
    many = NUMBERS("many-improve")
    others = [name for name in ALGORITHM_NAMES if name not in ("SACK", "Reno")]
    more = [name for name in others if results.cell(sweep, reading, name).mbits > (1 + many["more"]) * base]
    return holds_if(
        condition,
        len(more) >= many["share"] * len(others),
        f"{len(more)} of {len(others)}: {', '.join(more) or 'none'}",
    )


def _readings(results: Results, sweep: str) -> list[str]:
    return list(dict.fromkeys(key[1] for key in results.cells if key[0] == sweep))


def _conditions(results: Results, *sweeps: str) -> list[Condition]:
    return [Condition(sweep, reading) for sweep in sweeps for reading in _readings(results, sweep)]


def _beside(results: Results) -> list[Evaluated]:
    crowded = _conditions(results, "long", "long-apart", "short")

    def over(
        conditions: Sequence[Condition], evaluate: Callable[[Condition], tuple[bool, str]]
    ) -> tuple[Case, ...]:
        return tuple(holds_if(each.name, *evaluate(each)) for each in conditions)

    def stolen(condition: Condition, name: str) -> Estimate:
        return results.stolen(condition.sweep, condition.reading, name)

    def steals(condition: Condition, name: str) -> bool:
        found = stolen(condition, name)
        return found.runs > 1 and found.mean - (found.half_width or 0.0) > STEALS

    def spares(condition: Condition, name: str) -> bool:
        found = stolen(condition, name)
        return found.mean - (found.half_width or 0.0) <= STEALS

    def rate(condition: Condition, name: str) -> float:
        return results.cell(condition.sweep, condition.reading, name).mbits

    def shares(condition: Condition, names: Sequence[str]) -> str:
        return ", ".join(f"{name} {stolen(condition, name).mean:.0%}" for name in names)

    def top(names: frozenset[str]) -> Callable[[Condition], tuple[bool, str]]:
        def evaluate(condition: Condition) -> tuple[bool, str]:
            ranked = sorted(ALGORITHM_NAMES, key=lambda name: -rate(condition, name))
            said = ", ".join(f"{name} {rate(condition, name):.0f}" for name in ranked[:5])
            return frozenset(ranked[:3]) == names, f"{said} Mbit/s"

        return evaluate

    def worst(condition: Condition) -> tuple[bool, str]:
        ranked = sorted(ALGORITHM_NAMES, key=lambda name: -stolen(condition, name).mean)
        return ranked[0] == "Scalable", shares(condition, ranked[:4])

    def grows(condition: Condition) -> tuple[bool, str]:
        names = ["SACK", *(name for name, _flow in STOCHASTIC_N)]
        rates = [rate(condition, name) for name in names]
        rising = all(b > a for a, b in pairwise(rates))
        gentle = all(spares(condition, name) for name in names[1:])
        said = ", ".join(f"{each:.0f}" for each in rates)
        return rising and gentle, f"{said} Mbit/s for N = 1, 2, ...; takes {shares(condition, names[1:])}"

    more = NUMBERS("compound-compromise")["more"]

    def trade_off(condition: Condition) -> tuple[bool, str]:
        ours, base = rate(condition, "Compound"), rate(condition, "SACK")
        said = f"{ours:.0f} Mbit/s against {base:.0f} of SACK; takes {shares(condition, ['Compound'])}"
        return ours > (1 + more) * base and spares(condition, "Compound"), said

    return [
        (
            "most-with-long-queues",
            over(_conditions(results, "long", "long-apart"), top(MOST_WITH_LONG)),
        ),
        (
            "most-with-short-queues",
            over(_conditions(results, "short"), top(MOST_WITH_SHORT)),
        ),
        ("least-fair", over(crowded, worst)),
        *(
            (
                f"{slug(name)}-takes",
                over(crowded, lambda each, name=name: (steals(each, name), shares(each, [name]))),
            )
            for name in AGGRESSIVE
        ),
        *(
            (
                f"{slug(name)}-spares",
                over(crowded, lambda each, name=name: (spares(each, name), shares(each, [name]))),
            )
            for name in FAIR
            if name != "SACK"
        ),
        ("stochastic-grows", over(crowded, grows)),
        ("compound-compromise", over(crowded, trade_off)),
    ]
