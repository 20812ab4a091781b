"""All kernels of classes S and W, or of S alone if "S" is said, in one start of MPI.

Real, and as skeletons unless "real" is said; ranks poll while they wait for messages, unless "sleep" is said.

Rank 0 prints JSON.
"""

import json
import sys
from importlib import import_module

from mpi4py import MPI

from longhaul.workloads.commands.kernels import MODULES
from longhaul.workloads.costs import known
from longhaul.workloads.job import Job
from longhaul.workloads.waiting import SleepingComm


def main() -> None:
    world = SleepingComm(MPI.COMM_WORLD) if "sleep" in sys.argv else MPI.COMM_WORLD
    found = {}
    for name, module in MODULES.items():
        for problem in "S" if "S" in sys.argv else "SW":
            kernel = import_module(f"longhaul.workloads.{module}")
            real = Job(world)
            outcome = kernel.run(real, problem)
            skeleton = Job(world, costs_ns=dict.fromkeys(known(name), 0.0))
            if "real" not in sys.argv:
                kernel.run(skeleton, problem)
            mine = {
                "host": MPI.Get_processor_name(),
                "verified": outcome.verified,
                "figures": dict(outcome.figures),
                "sent": [real.sent_bytes, skeleton.sent_bytes],
                "messages": [real.messages, skeleton.messages],
                "pattern": [real.pattern, skeleton.pattern],
                "units": [dict(real.units), dict(skeleton.units)],
                "totals": kernel.totals(problem),
            }
            found[f"{name} {problem}"] = world.gather(mine)
    if world.Get_rank() == 0:
        print(json.dumps(found))


main()
