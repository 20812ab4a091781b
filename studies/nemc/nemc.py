"""After "NemC: A Network Emulator for Cluster-of-Clusters" (Jin, Narravula, Vaidyanathan, Panda, 2006).

Figures 3 to 5 with messages of 512 bytes; figures 6 and 7 with kernels of the NAS parallel benchmarks and a
molecular-dynamics program, on one cluster of four hosts and on two: simulated at the paper's size, and live.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from applications import study_live, study_simulated
from installed import study_installed
from messages import study_messages
from packets import study_packets

from longhaul.studies import Part, run_study

PARTS = {
    "messages": Part(lambda study, given: study_messages(study, rounds=given.rounds), rounds=6),
    "packets": Part(lambda study, given: study_packets(study, rounds=given.rounds), rounds=4),
    "programs": Part(lambda study, _given: study_simulated(study)),
    "programs-live": Part(lambda study, given: study_live(study, rounds=given.rounds), rounds=3),
    "installed": Part(lambda study, given: study_installed(study, rounds=given.rounds), rounds=3),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
