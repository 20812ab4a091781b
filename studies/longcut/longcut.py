"""After the Longcut paper (Bongo et al., University of Tromso), figures 4 to 7 and the six tables.

Measured latencies and bandwidths of five hosts in Norway and Denmark; PingPong over a real path and an
emulated one, and by three kinds of traces; Allreduce and SOR on four sub-clusters; connections of a gateway.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import agreement
import collectives
import kinds
import precision
import reality
import relaxation
import scalability
import tables

from longhaul.studies import Figures, Part, Study, run_study

Draw = Callable[[Figures], None]


def _once(run: Callable[[Study], None], draw: Draw) -> Part:
    return Part(lambda study, _given: run(study), draw=draw)


def _live(run: Callable[..., None], draw: Draw, *, rounds: int) -> Part:
    return Part(lambda study, given: run(study, rounds=given.rounds), rounds=rounds, draw=draw)


PARTS = {
    "tables": _once(tables.study_tables, tables.draw),
    "kinds": _once(kinds.study_simulated, kinds.draw),
    "collectives": _once(collectives.study_collectives, collectives.draw),
    "relaxation": _once(relaxation.study_relaxation, relaxation.draw),
    "precision": _live(precision.study_precision, precision.draw, rounds=3),
    "reality": _once(reality.study_reality, reality.draw),
    "kinds-relayed": _live(kinds.study_relayed, kinds.draw_relayed, rounds=3),
    "scalability": _live(scalability.study_scalability, scalability.draw, rounds=5),
    "agreement": _live(agreement.study_agreement, agreement.draw, rounds=3),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
