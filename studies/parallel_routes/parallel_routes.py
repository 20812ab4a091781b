"""After "Performance Evaluation of Grid Computing with Parallel Routes Transmission" (Miyagi et al.).

Figure 6 to the nanosecond and figure 8 at the paper's size, simulated; figure 8 live, at this machine's size;
figures 5 and 7 with kernels of the NAS parallel benchmarks.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from frames import study_frames
from kernels import study_kernels
from live import study_live
from study import Study
from transfer import study_transfers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--volume", default="100GB", help="of the simulated transfers; the paper's is 100GB")
    parser.add_argument("--rounds", type=int, default=1, help="of the live transfers")
    parser.add_argument("--only", choices=("frames", "transfers", "kernels", "live"), help="one part alone")
    given = parser.parse_args()
    study = Study("parallel-routes", "What does it cost that packets on parallel routes overtake each other?")
    parts = {
        "frames": lambda: study_frames(study),
        "transfers": lambda: study_transfers(study, volume=given.volume),
        "kernels": lambda: study_kernels(study),
        "live": lambda: study_live(study, rounds=given.rounds),
    }
    for name, part in parts.items():
        if given.only in (None, name):
            part()
    study.finish()


if __name__ == "__main__":
    main()
