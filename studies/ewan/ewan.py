"""After "Large Scale Gigabit Emulated Testbed for Grid Transport Evaluation" (PFLDnet 2006).

Table III and figures 4, 5, 6, 8, 9, 10 and 11, the two transport services, and the 24 Mbit/s of Lyon,
simulated at the paper's rates; and the figures live, at a tenth of them.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import at_a_tenth
import calibration
import congestion
import limits
import lyon
import one_flow
import services
import sources
import spacing

from longhaul.studies import Figures, Part, Study, run_study


def _simulated(run: Callable[[Study], None], draw: Callable[[Figures], None]) -> Part:
    return Part(lambda study, _given: run(study), draw=draw)


PARTS = {
    "table-3": _simulated(calibration.study_table_3, calibration.draw_table_3),
    "figure-4": _simulated(calibration.study_figure_4, calibration.draw_figure_4),
    "figures-5-6": _simulated(spacing.study_spacing, spacing.draw),
    "figure-8": _simulated(one_flow.study_one_flow, one_flow.draw),
    "figure-9": _simulated(sources.study_sources, sources.draw),
    "figure-10": _simulated(limits.study_limits, limits.draw),
    "figure-11": _simulated(congestion.study_congestion, congestion.draw),
    "lyon": _simulated(lyon.study_lyon, lyon.draw),
    "services": _simulated(services.study_services, services.draw),
    "at-a-tenth": Part(
        lambda study, given: at_a_tenth.study_live(study, rounds=given.rounds),
        rounds=4,
        draw=at_a_tenth.draw,
    ),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
