"""The claims of the paper's sections 5, 6 and 6.1, each compared with the trials."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean, median, stdev

from judging import Case, Claim, between, judged, measured
from results import Results
from trials import ALGORITHMS, PARALLEL, STOCHASTIC_N, STOCHASTIC_ONE, STREAMS

from longhaul.analysis.estimates import Estimate
from longhaul.analysis.fitting import fit_gaps

MEASURED_MBITS, SIMULATED_MBITS, SIMULATED_SD, MEDIAN_MBITS = 375.6, 451.45, 103.0, 375.0
STEALS = 0.05
"""Of what the others have: less is not a theft that anybody would notice."""
SIMILAR = 0.10
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


def claims(results: Results) -> list[Claim]:
    """Every claim with its verdict."""
    every = [*_validation(results), *_alone(results), *_beside(results)]
    return [replace(claim, over="the reading of the loss and the queue") for claim in every]


def _validation(results: Results) -> list[Claim]:
    cell = results.cell("validation", "fitted", "SACK")
    rates = [each / 1e6 for each in cell.main]
    fits = fit_gaps(rates, seed=1, replicates=199)
    said = f"{mean(rates):.1f} Mbit/s, median {median(rates):.1f}, sd {stdev(rates):.1f}"
    one = "83 trials, loss fitted to the capture"
    readings = []
    for reading in sorted({key[1] for key in results.cells if key[0] == "readings"}):
        found = measured([each / 1e6 for each in results.cell("readings", reading, "SACK").main])
        bounds = 0.75 * MEASURED_MBITS, 1.25 * MEASURED_MBITS
        readings.append(between(reading, found, *bounds, "Mbit/s"))
    return [
        Claim(
            "5",
            f"Simulated SACK transfers have {SIMULATED_MBITS} Mbit/s, near the {MEASURED_MBITS} measured",
            f"the mean is within {SIMULATED_SD:g} Mbit/s of the paper's, and within 25 % of the measured",
            (
                between(
                    one,
                    measured(rates),
                    max(SIMULATED_MBITS - SIMULATED_SD, 0.75 * MEASURED_MBITS),
                    min(SIMULATED_MBITS + SIMULATED_SD, 1.25 * MEASURED_MBITS),
                    "Mbit/s",
                ),
            ),
        ),
        Claim(
            "5",
            f"Their standard deviation is {SIMULATED_SD:g} Mbit/s",
            "within a factor of 1.5",
            (judged(one, SIMULATED_SD / 1.5 <= stdev(rates) <= SIMULATED_SD * 1.5, said),),
        ),
        Claim(
            "5",
            f"They follow a Wakeby distribution best, with a median of {MEDIAN_MBITS:g} Mbit/s",
            "Wakeby has the smallest Anderson-Darling statistic, and the median is within 10 %",
            (
                judged(
                    one,
                    next(fit for fit in fits.fits if fit.easyfit_rank == 1).family == "wakeby"
                    and abs(median(rates) / MEDIAN_MBITS - 1) <= 0.1,
                    f"smallest A2: {next(fit for fit in fits.fits if fit.easyfit_rank == 1).family}; "
                    f"first with p-values: {fits.fits[0].family}; {said}",
                ),
            ),
        ),
        Claim(
            "4",
            f"Weibull losses, shape 2.9, scale 0.3, give a SACK flow the {MEASURED_MBITS} Mbit/s measured",
            "the mean is within 25 % of what was measured",
            tuple(readings),
        ),
    ]


def _alone(results: Results) -> list[Claim]:
    similar, better = [], []
    for reading in _readings(results, "alone"):
        ratios = {
            streams: results.cell("alone", reading, one).mbits / results.cell("alone", reading, many).mbits
            for streams, (one, _), (many, _) in zip(STREAMS, STOCHASTIC_ONE, PARALLEL, strict=True)
        }
        detail = ", ".join(f"{streams}: {ratio - 1:+.0%}" for streams, ratio in ratios.items())
        holds = all(abs(ratio - 1) <= SIMILAR for ratio in ratios.values())
        similar.append(judged(reading, holds, f"Stochastic against parallel, by N: {detail}"))
        better.append(_many_improve(results, "alone", reading, reading))
    return [
        Claim(
            "6, Fig. 2",
            "Stochastic TCP with N streams and phi = 1 does as N parallel SACK streams",
            f"the means differ by at most {SIMILAR:.0%} for every N",
            tuple(similar),
        ),
        Claim(
            "6.1",
            "Many variants have more throughput than SACK and Reno",
            "at least half of the seven others have, alone",
            tuple(better),
        ),
    ]


def _many_improve(results: Results, sweep: str, reading: str, condition: str) -> Case:
    base = max(results.cell(sweep, reading, each).mbits for each in ("SACK", "Reno"))
    others = [name for name in ALGORITHM_NAMES if name not in ("SACK", "Reno")]
    more = [name for name in others if results.cell(sweep, reading, name).mbits > 1.02 * base]
    return judged(
        condition, len(more) >= len(others) / 2, f"{len(more)} of {len(others)}: {', '.join(more) or 'none'}"
    )


def _readings(results: Results, sweep: str) -> list[str]:
    return list(dict.fromkeys(key[1] for key in results.cells if key[0] == sweep))


def _conditions(results: Results, *sweeps: str) -> list[Condition]:
    return [Condition(sweep, reading) for sweep in sweeps for reading in _readings(results, sweep)]


def _beside(results: Results) -> list[Claim]:
    crowded = _conditions(results, "long", "long-apart", "short")

    def over(
        conditions: Sequence[Condition], judge: Callable[[Condition], tuple[bool, str]]
    ) -> tuple[Case, ...]:
        return tuple(judged(each.name, *judge(each)) for each in conditions)

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
        def judge(condition: Condition) -> tuple[bool, str]:
            ranked = sorted(ALGORITHM_NAMES, key=lambda name: -rate(condition, name))
            said = ", ".join(f"{name} {rate(condition, name):.0f}" for name in ranked[:5])
            return frozenset(ranked[:3]) == names, f"{said} Mbit/s"

        return judge

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

    def trade_off(condition: Condition) -> tuple[bool, str]:
        ours, base = rate(condition, "Compound"), rate(condition, "SACK")
        said = f"{ours:.0f} Mbit/s against {base:.0f} of SACK; takes {shares(condition, ['Compound'])}"
        return ours > 1.02 * base and spares(condition, "Compound"), said

    most = f"more than {STEALS:.0%} of what the five have beside SACK"
    return [
        Claim(
            "6, Fig. 3",
            "Beside five flows and with long queues BIC, Scalable and CUBIC have most",
            "these are the first three of nine by mean goodput",
            over(_conditions(results, "long", "long-apart"), top(frozenset({"BIC", "Scalable", "CUBIC"}))),
        ),
        Claim(
            "6, Fig. 4",
            "Beside five flows and with short queues Scalable, BIC and H-TCP have most",
            "these are the first three of nine by mean goodput",
            over(_conditions(results, "short"), top(frozenset({"BIC", "Scalable", "H-TCP"}))),
        ),
        Claim(
            "6.1",
            "Scalable is the least fair",
            "it takes the largest share from the five",
            over(crowded, worst),
        ),
        *(
            Claim(
                "6.1",
                f"{name} takes from others",
                f"{most}, beyond its 95 % interval",
                over(crowded, lambda each, name=name: (steals(each, name), shares(each, [name]))),  # type: ignore[misc]
            )
            for name in AGGRESSIVE
        ),
        *(
            Claim(
                "6.1",
                f"{name} takes nothing from others",
                f"at most {STEALS:.0%}, within its 95 % interval",
                over(crowded, lambda each, name=name: (spares(each, name), shares(each, [name]))),  # type: ignore[misc]
            )
            for name in FAIR
            if name != "SACK"
        ),
        Claim(
            "6.1",
            "Stochastic TCP gains with the number of streams, and from bandwidth that nobody used",
            f"its mean rises with every N, and it takes at most {STEALS:.0%} from the five",
            over(crowded, grows),
        ),
        Claim(
            "6.1, 8",
            "Compound is a good compromise: more throughput than SACK, and nothing taken",
            f"2 % more than SACK, and at most {STEALS:.0%} taken",
            over(crowded, trade_off),
        ),
    ]
