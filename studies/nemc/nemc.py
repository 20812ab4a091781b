"""After "NemC: A Network Emulator for Cluster-of-Clusters" (Jin, Narravula, Vaidyanathan, Panda, 2006).

Figures 3 to 5 with messages of 512 bytes; figures 6 and 7 with kernels of the NAS parallel benchmarks and a
molecular-dynamics program, on one cluster of four hosts and on two: live, and simulated at the paper's size.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from applications import study_applications
from installed import study_installed
from messages import study_messages
from packets import study_packets
from study import Study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1, help="of the messages; medians are taken")
    parser.add_argument(
        "--only", choices=("messages", "packets", "applications", "installed"), help="one part alone"
    )
    given = parser.parse_args()
    study = Study("nemc", "Does a parallel program run faster on two clusters, up to which delay, how much?")
    parts = {
        "messages": lambda: study_messages(study, rounds=given.rounds),
        "packets": lambda: study_packets(study),
        "applications": lambda: study_applications(study),
        "installed": lambda: study_installed(study),
    }
    for name, part in parts.items():
        if given.only in (None, name):
            part()
    study.finish()


if __name__ == "__main__":
    main()
