"""After "Large Scale Gigabit Emulated Testbed for Grid Transport Evaluation" (PFLDnet 2006).

Table III and figures 4, 5, 6, 8, 9, 10 and 11, the two transport services, and the 24 Mbit/s of Lyon,
simulated at the paper's rates; and the figures live, at a tenth of them.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from calibration import study_figure_4, study_table_3
from congestion import study_congestion
from limits import study_limits
from live import study_live
from lyon import study_lyon
from one_flow import study_one_flow
from services import study_services
from sources import study_sources
from spacing import study_spacing
from study import Study

SIMULATED = {
    "table-3": study_table_3,
    "figure-4": study_figure_4,
    "figures-5-6": study_spacing,
    "figure-8": study_one_flow,
    "figure-9": study_sources,
    "figure-10": study_limits,
    "figure-11": study_congestion,
    "lyon": study_lyon,
    "services": study_services,
}
PARTS = SIMULATED | {"live": study_live}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=(*PARTS, "simulated"), help="one part alone, or all but live")
    given = parser.parse_args()
    study = Study("ewan", "What do buffers, limits and sources do to TCP over a gigabit and 100 ms?")
    wanted = {None: PARTS, "simulated": SIMULATED}.get(given.only, {given.only: PARTS.get(given.only)})
    for part in wanted.values():
        part(study)
    study.finish()


if __name__ == "__main__":
    main()
