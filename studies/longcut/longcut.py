"""After the Longcut paper (Bongo et al., University of Tromso), figures 4 to 7 and the six tables.

Measured latencies and bandwidths of five hosts in Norway and Denmark; PingPong over a real path and an
emulated one, and by three kinds of traces; Allreduce and SOR on four sub-clusters; connections of a gateway.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agreement import study_agreement
from collectives import study_collectives
from kinds import study_kinds
from precision import study_precision
from relaxation import study_relaxation
from scalability import study_scalability
from study import Study
from tables import study_tables

PARTS = {
    "tables": study_tables,
    "precision": study_precision,
    "kinds": study_kinds,
    "collectives": study_collectives,
    "scalability": study_scalability,
    "relaxation": study_relaxation,
    "agreement": study_agreement,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="one part alone")
    given = parser.parse_args()
    study = Study(
        "longcut", "Which trace does a WAN's emulation need, and does a gateway play it faithfully?"
    )
    for name, part in PARTS.items():
        if given.only in (None, name):
            study.lines += ["", f"## {name}", ""]
            part(study)
    study.finish()


if __name__ == "__main__":
    main()
