"""After "NemC: A Network Emulator for Cluster-of-Clusters" (Jin, Narravula, Vaidyanathan, Panda, 2006).

Figures 3 to 5 with messages of 512 bytes; figures 6 and 7 with kernels of the NAS parallel benchmarks and a
molecular-dynamics program, on one cluster of four hosts and on two: simulated at the paper's size, and live.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import applications
import installed
import messages
import packets
import virtual_clock

from longhaul.studies import Part, run_study

PARTS = {
    "messages": Part(
        lambda study, given: messages.study_messages(study, rounds=given.rounds), rounds=6, draw=messages.draw
    ),
    "packets": Part(
        lambda study, given: packets.study_packets(study, rounds=given.rounds), rounds=4, draw=packets.draw
    ),
    "programs": Part(lambda study, _given: applications.study_simulated(study), draw=applications.draw),
    "programs-live": Part(
        lambda study, given: applications.study_live(study, rounds=given.rounds),
        rounds=3,
        draw=applications.draw_live,
    ),
    "programs-virtual": Part(
        lambda study, _given: virtual_clock.study_kernels(study), draw=virtual_clock.draw
    ),
    "class-b-virtual": Part(
        lambda study, _given: virtual_clock.study_class_b(study), draw=virtual_clock.draw_class_b
    ),
    "gromacs-virtual": Part(
        lambda study, _given: virtual_clock.study_gromacs(study), draw=virtual_clock.draw_gromacs
    ),
    "installed": Part(
        lambda study, given: installed.study_installed(study, rounds=given.rounds),
        rounds=3,
        draw=installed.draw,
    ),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
