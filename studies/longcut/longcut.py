"""After the Longcut paper (Bongo et al., University of Tromso), figures 4 to 7 and the six tables.

Measured latencies and bandwidths of five hosts in Norway and Denmark; PingPong over a real path and an
emulated one, and by three kinds of traces; Allreduce and SOR on four sub-clusters; connections of a gateway.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agreement import study_agreement
from collectives import study_collectives
from kinds import study_relayed, study_simulated
from precision import study_precision
from relaxation import study_relaxation
from scalability import study_scalability
from tables import study_tables

from longhaul.studies import Part, Study, run_study


def _simulated(run: Callable[[Study], None]) -> Part:
    return Part(lambda study, _given: run(study))


PARTS = {
    "tables": Part(lambda study, _given: study_tables(study)),
    "kinds": _simulated(study_simulated),
    "collectives": _simulated(study_collectives),
    "relaxation": _simulated(study_relaxation),
    "precision": Part(lambda study, given: study_precision(study, rounds=given.rounds), rounds=3),
    "kinds-relayed": Part(lambda study, given: study_relayed(study, rounds=given.rounds), rounds=3),
    "scalability": Part(lambda study, given: study_scalability(study, rounds=given.rounds), rounds=5),
    "agreement": Part(lambda study, given: study_agreement(study, rounds=given.rounds), rounds=3),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
