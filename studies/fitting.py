"""The losses measured on TeraGrid, 200 times: what a fit of 1,346 gaps finds, and which family comes first.

After the fitting pipeline of Hacker, Smith et al. (2008), who found Weibull gaps of shape 2.9 and the
smallest Anderson-Darling statistic.
"""

from collections import Counter

import numpy as np
from study import Study

from longhaul.analysis.fitting import FAMILIES, fit_gaps
from longhaul.report.plotting import LIGHT, SERIES, figure, paper, plain

SHAPE, SCALE_S = 2.9, 18.0
LOSSES = 1346
REPETITIONS = 200
REPLICATES = 199
SEED = 2008


def main() -> None:
    study = Study("fitting", "What do 1,346 gaps between losses tell of their distribution?")
    samples = SCALE_S * np.random.default_rng(SEED).weibull(SHAPE, (REPETITIONS, LOSSES))
    study.say(f"Weibull gaps, shape {SHAPE}, scale {SCALE_S:g} s; seed {SEED}, {REPLICATES} replicates each")
    every = [fit_gaps(gaps, replicates=REPLICATES, seed=index) for index, gaps in enumerate(samples)]
    rows = [
        {
            "repetition": index,
            "rank": rank,
            "family": fit.family,
            "a2": fit.a2.value,
            "p": fit.a2.p,
            "easyfit_rank": fit.easyfit_rank,
            "easyfit_accepts": fit.easyfit_accepts,
        }
        for index, fits in enumerate(every)
        for rank, fit in enumerate(fits.fits, 1)
    ]
    study.table("families", rows)
    weibulls = [next(fit for fit in fits.fits if fit.family == "weibull") for fits in every]
    shapes = np.array([fit.parameters[0].value for fit in weibulls])
    theory = np.sqrt(6) / np.pi * SHAPE / np.sqrt(LOSSES)
    study.say(f"fitted shape {shapes.mean():.3f}, sd {shapes.std(ddof=1):.4f}; theory {theory:.4f}")
    study.claim(
        "the shape has the deviation that theory says, within 4.5 of its standard errors",
        abs(shapes.std(ddof=1) / theory - 1) < 4.5 / np.sqrt(2 * REPETITIONS),
    )
    told = np.mean([fit.parameters[0].standard_error or 0.0 for fit in weibulls])
    study.claim(f"the fits say so themselves: {told:.4f} on average", abs(told / theory - 1) < 0.05)
    first = Counter(fits.best.family for fits in every)
    study.say(f"first of twelve: {', '.join(f'{name} {count}' for name, count in first.most_common())}")
    study.claim("Weibull comes first in at least 95 of 100", first["weibull"] >= 0.95 * REPETITIONS)
    nearest = Counter(next(fit.family for fit in fits.fits if fit.easyfit_rank == 1) for fits in every)
    study.say(f"smallest A2 of twelve: {', '.join(f'{name} {n}' for name, n in nearest.most_common())}")
    rejected = sum(fit.a2.p is not None and fit.a2.p <= 0.05 for fit in weibulls)
    study.claim(
        f"the true family has a p of at most 0.05 in {rejected} of {REPETITIONS}, as it should in 10",
        abs(rejected - 0.05 * REPETITIONS) < 4.5 * np.sqrt(0.05 * 0.95 * REPETITIONS),
    )
    accepted = sum(row["easyfit_accepts"] for row in rows if row["family"] == "normal")
    study.say(f"EasyFit's limit accepts a normal distribution in {accepted} of {REPETITIONS}")
    with paper():
        made = figure(3.8, width_in=9)
        left, right = made.subplots(1, 2)
        plain(left)
        plain(right)
        left.hist(shapes, bins=20)
        left.axvline(SHAPE, color="0.4", linewidth=0.8, linestyle="--")
        left.set(xlabel="fitted shape", ylabel="of 200 repetitions")
        left.set_title(f"shape {shapes.mean():.3f}, sd {shapes.std(ddof=1):.3f}")
        names = [name for name in FAMILIES if name not in ("weibull-3", "generalised-pareto", "wakeby")]
        values = [[row["a2"] for row in rows if row["family"] == name] for name in names]
        order = np.argsort([np.median(each) for each in values])
        for place, index in enumerate(order):
            low, middle, high = np.quantile(values[index], (0.05, 0.5, 0.95))
            right.plot([low, high], [place, place], color=LIGHT[SERIES[0]], linewidth=3)
            right.plot([middle], [place], "o", color=LIGHT[SERIES[1]], zorder=3)
        right.set_yticks(range(len(order)), [names[index] for index in order])
        right.set(xscale="log", xlabel="A2")
        right.set_title("distance of each family: median, 5 to 95 %")
        study.figure(made, "fitting")
    study.finish()


if __name__ == "__main__":
    main()
