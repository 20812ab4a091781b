"""A rank of kernels of the NAS parallel benchmarks, one after the other, so that Python starts once.

``python ranks.py CLASS KERNEL ...`` under mpirun. The first rank prints a line of JSON for each kernel.
"""

import json
import sys
from importlib import import_module

from longhaul.workloads.commands.kernels import MODULES, measured
from longhaul.workloads.job import Job
from longhaul.workloads.starting import communicator

problem, *kernels = sys.argv[1:]
with communicator() as world:
    for name in kernels:
        job = Job(world)
        verified = import_module(f"longhaul.workloads.{MODULES[name]}").run(job, problem).verified
        found = {"workload": name, **measured(job), "verified": verified}
        if job.rank == 0:
            print(json.dumps(found), flush=True)
