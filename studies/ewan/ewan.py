"""After "Large Scale Gigabit Emulated Testbed for Grid Transport Evaluation" (PFLDnet 2006).

Table III and figures 4, 5, 6, 8, 9, 10 and 11, the two transport services, and the 24 Mbit/s of Lyon,
simulated at the paper's rates; and table III and the figures with Linux's hosts on the virtual clock.
NFS and sshfs over a WAN, there, too.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import calibration
import congestion
import figures_on_linux
import file_systems
import limits
import lyon
import on_linux
import one_flow
import services
import sources
import spacing

from longhaul.studies import Figures, Part, Study, run_study


def _part(run: Callable[[Study], None], draw: Callable[[Figures], None]) -> Part:
    return Part(lambda study, _given: run(study), draw=draw)


PARTS = {
    "table-3": _part(calibration.study_table_3, calibration.draw_table_3),
    "figure-4": _part(calibration.study_figure_4, calibration.draw_figure_4),
    "figures-5-6": _part(spacing.study_spacing, spacing.draw),
    "figure-8": _part(one_flow.study_one_flow, one_flow.draw),
    "figure-9": _part(sources.study_sources, sources.draw),
    "figure-10": _part(limits.study_limits, limits.draw),
    "figure-11": _part(congestion.study_congestion, congestion.draw),
    "lyon": _part(lyon.study_lyon, lyon.draw),
    "services": _part(services.study_services, services.draw),
    "linux": _part(on_linux.study_on_linux, figures_on_linux.draw),
    "linux-spacing": _part(spacing.study_on_linux, spacing.draw_on_linux),
    "file-systems": _part(file_systems.study_file_systems, file_systems.draw),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
