"""After "Performance Evaluation of Grid Computing with Parallel Routes Transmission" (Miyagi et al.).

Figure 6 to the nanosecond and figure 8 with the paper's rates, simulated; figure 8 live, at this machine's
size; figures 5 and 7 with kernels of the NAS parallel benchmarks, simulated and live.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import kernels
import live
from frames import study_frames
from study import Part, run_study
from transfer import study_transfers

QUESTION = "What does it cost that packets on parallel routes overtake each other?"
PARTS = {
    "frames": Part("simulated", lambda study, _given: study_frames(study)),
    "transfers": Part("simulated", lambda study, given: study_transfers(study, seeds=given.rounds), rounds=3),
    "kernels": Part("simulated", lambda study, _given: kernels.study_simulated(study)),
    "transfers-live": Part(
        "live", lambda study, given: live.study_live(study, rounds=given.rounds), rounds=3
    ),
    "kernels-live": Part(
        "live", lambda study, given: kernels.study_live(study, rounds=given.rounds), rounds=4
    ),
}

if __name__ == "__main__":
    run_study("parallel-routes", QUESTION, __doc__, PARTS)
