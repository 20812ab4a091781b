"""After "Performance Evaluation of Grid Computing with Parallel Routes Transmission" (Miyagi et al.).

Figure 6 to the nanosecond and figure 8 with the paper's rates, simulated; figure 8 live, at this machine's
size; figures 5 and 7 with kernels of the NAS parallel benchmarks, simulated and live.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import frames
import kernels
import kernels_virtual
import transfer
import transfers_live

from longhaul.studies import Part, run_study

PARTS = {
    "frames": Part(lambda study, _given: frames.study_frames(study), draw=frames.draw),
    "transfers": Part(
        lambda study, given: transfer.study_transfers(study, seeds=given.rounds), rounds=3, draw=transfer.draw
    ),
    "kernels": Part(lambda study, _given: kernels.study_simulated(study), draw=kernels.draw_simulated),
    "kernels-virtual": Part(
        lambda study, _given: kernels_virtual.study_virtual(study), draw=kernels_virtual.draw
    ),
    "transfers-live": Part(
        lambda study, given: transfers_live.study_live(study, rounds=given.rounds),
        rounds=3,
        draw=transfers_live.draw,
    ),
    "kernels-live": Part(
        lambda study, given: kernels.study_live(study, rounds=given.rounds), rounds=4, draw=kernels.draw_live
    ),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
