"""After "Large Scale Gigabit Emulated Testbed for Grid Transport Evaluation" (PFLDnet 2006).

Table III and figures 4, 5, 6, 8, 9, 10 and 11, the two transport services, and the 24 Mbit/s of Lyon,
simulated at the paper's rates; and the figures live, at a tenth of them.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from at_a_tenth import study_live
from calibration import study_figure_4, study_table_3
from congestion import study_congestion
from limits import study_limits
from lyon import study_lyon
from one_flow import study_one_flow
from services import study_services
from sources import study_sources
from spacing import study_spacing

from longhaul.studies import Part, Study, run_study


def _simulated(run: Callable[[Study], None]) -> Part:
    return Part(lambda study, _given: run(study))


PARTS = {
    "table-3": _simulated(study_table_3),
    "figure-4": _simulated(study_figure_4),
    "figures-5-6": _simulated(study_spacing),
    "figure-8": _simulated(study_one_flow),
    "figure-9": _simulated(study_sources),
    "figure-10": _simulated(study_limits),
    "figure-11": _simulated(study_congestion),
    "lyon": _simulated(study_lyon),
    "services": _simulated(study_services),
    "at-a-tenth": Part(lambda study, given: study_live(study, rounds=given.rounds), rounds=4),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
