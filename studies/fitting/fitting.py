"""The losses measured on TeraGrid, 200 times: what a fit of 1,346 gaps finds, and which family comes first.

After the fitting pipeline of Hacker, Smith et al. (2008), who found Weibull gaps of shape 2.9 and the
smallest Anderson-Darling statistic.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from longhaul.analysis.fitting import FAMILIES, fit_gaps
from longhaul.report.plotting import figure, paper, plain
from longhaul.studies import (
    Figures,
    Measurement,
    Part,
    Study,
    StudyFolder,
    exact,
    holds_if,
    near,
    run_study,
)
from longhaul.studies.drawing import colour, draw_paper, legend_below

SHAPE = StudyFolder(Path(__file__).parent).claims.numbers("weibull-found")["shape"]
SCALE_S = 18.0
LOSSES = 1346
REPETITIONS = 200
REPLICATES = 199
SEED = 2008


def fits(repetitions: int, replicates: int) -> dict[str, Any]:
    """What each repetition's fit is, and how far each family is from the gaps."""
    samples = SCALE_S * np.random.default_rng(SEED).weibull(SHAPE, (repetitions, LOSSES))
    rows, distances = [], {name: [] for name in FAMILIES}
    for index, gaps in enumerate(samples):
        found = fit_gaps(gaps, replicates=replicates, seed=index)
        by_family = {fit.family: fit for fit in found.fits}
        weibull = by_family["weibull"]
        for name, fit in by_family.items():
            distances[name].append(fit.a2.value)
        rows.append(
            {
                "repetition": index,
                "shape": round(weibull.parameters[0].value, 5),
                "standard_error": round(weibull.parameters[0].standard_error or 0.0, 5),
                "weibull_p": weibull.a2.p,
                "first": found.best.family,
                "smallest_a2": next(fit.family for fit in found.fits if fit.easyfit_rank == 1),
                "easyfit_accepts_normal": by_family["normal"].easyfit_accepts,
            }
        )
    quantiles = {
        name: [round(float(each), 4) for each in np.quantile(values, (0.05, 0.5, 0.95))]
        for name, values in distances.items()
        if values
    }
    return {"rows": rows, "quantiles": quantiles}


def study_fits(study: Study) -> None:
    """Fit, and evaluate."""
    repetitions, replicates = study.size((REPETITIONS, REPLICATES), small=(4, 99))
    found = study.measured("fits", lambda: fits(repetitions, replicates))
    if found is None:
        raise RuntimeError("the fits failed")
    rows = found["rows"]
    study.table("fits", rows)
    study.table(
        "families",
        [
            {"family": name, "a2_p5": low, "a2_p50": middle, "a2_p95": high}
            for name, (low, middle, high) in found["quantiles"].items()
        ],
    )
    study.note(f"Weibull gaps, shape {SHAPE}, scale {SCALE_S:g} s; seed {SEED}, {replicates} replicates each")
    shapes = np.array([row["shape"] for row in rows])
    theory = np.sqrt(6) / np.pi * SHAPE / np.sqrt(LOSSES)
    spread = float(shapes.std(ddof=1))
    # Of a standard deviation from so many normal values.
    half = 1.96 * spread / np.sqrt(2 * repetitions)
    study.value("shape", Measurement(float(shapes.mean()), 1.96 * spread / np.sqrt(repetitions), repetitions))
    study.value("deviation", Measurement(spread, half, repetitions))
    study.value("theory", exact(float(theory)))
    sigmas = study.numbers("shape-deviation")["sigmas"]
    study.evaluate(
        "shape-deviation",
        holds_if(
            "",
            bool(abs(spread / theory - 1) < sigmas / np.sqrt(2 * repetitions)),
            f"{spread:.4f} ±{half:.4f}, theory {theory:.4f}",
        ),
    )
    reported = float(np.mean([row["standard_error"] for row in rows]))
    within = study.numbers("reported-error")["within"]
    study.evaluate("reported-error", near("", exact(reported), float(theory), within))
    first = Counter(row["first"] for row in rows)
    share = study.numbers("weibull-found")["share"]
    study.evaluate("weibull-found", holds_if("", first["weibull"] >= share * repetitions, _counted(first)))
    nearest = Counter(row["smallest_a2"] for row in rows)
    share = study.numbers("smallest-statistic")["share"]
    study.evaluate(
        "smallest-statistic", holds_if("", nearest["weibull"] >= share * repetitions, _counted(nearest))
    )
    level = study.numbers("rejection-rate")["level"]
    rejected = sum(row["weibull_p"] is not None and row["weibull_p"] <= level for row in rows)
    study.evaluate(
        "rejection-rate",
        holds_if(
            "",
            bool(abs(rejected - level * repetitions) < sigmas * np.sqrt(level * (1 - level) * repetitions)),
            f"{rejected} of {repetitions}",
        ),
    )
    accepted = sum(row["easyfit_accepts_normal"] for row in rows)
    most = (1 - study.numbers("normal-rejected")["share"]) * repetitions
    study.evaluate(
        "normal-rejected", holds_if("", accepted <= most, f"accepted in {accepted} of {repetitions}")
    )


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def draw(figures: Figures) -> None:
    """Fitted shapes, and how far each family is from the gaps."""
    shapes = np.array([row["shape"] for row in figures.rows("fits")])
    quantiles = {
        row["family"]: [row[f"a2_p{share}"] for share in (5, 50, 95)] for row in figures.rows("families")
    }
    with paper():
        made = figure(3.8, width_in=9)
        left, right = made.subplots(1, 2)
        plain(left)
        plain(right)
        left.hist(shapes, bins=20, color=colour(0), alpha=0.6, label="fitted shapes")
        draw_paper(left, figures.paper.values("section 4"))
        left.set(xlabel="fitted shape", ylabel=f"of {len(shapes)} repetitions")
        left.set_title(f"shape {shapes.mean():.3f}, sd {shapes.std(ddof=1):.3f}")
        shown = [name for name in quantiles if name not in ("weibull-3", "generalised-pareto", "wakeby")]
        shown.sort(key=lambda name: quantiles[name][1])
        for place, name in enumerate(shown):
            low, middle, high = quantiles[name]
            right.plot([low, high], [place, place], color=colour(0), linewidth=3)
            right.plot([middle], [place], "o", color=colour(1), zorder=3)
        right.set_yticks(range(len(shown)), shown)
        right.set(xscale="log", xlabel="Anderson-Darling statistic")
        right.set_title("distance of each family: median, 5 to 95 %")
        legend_below(made)
        figures.add(made, "fits", data=["fits", "families"])


PARTS = {"fits": Part(lambda study, _given: study_fits(study), draw=draw)}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
