"""A rank of kernels of the NAS parallel benchmarks, one after the other: Python starts once.

``python ranks.py NAME:CLASS[=SECONDS] ...`` under mpirun. The first rank prints JSON for each kernel. With
the seconds that one rank alone would compute, a kernel sends the same messages, and sleeps instead.
"""

import json
import sys
from importlib import import_module

from longhaul.workloads import costs
from longhaul.workloads.commands.kernels import MODULES, measured
from longhaul.workloads.job import Job
from longhaul.workloads.starting import communicator

with communicator() as world:
    for what in sys.argv[1:]:
        size, _, seconds = what.partition("=")
        name, problem = size.split(":")
        kernel = import_module(f"longhaul.workloads.{MODULES[name]}")
        costs_ns = None
        if seconds:
            costs_ns = costs.scaled(costs.shipped(name), kernel.totals(problem), float(seconds))
        job = Job(world, costs_ns=costs_ns)
        verified = kernel.run(job, problem).verified
        found = {"workload": name, **measured(job), "verified": verified}
        if job.rank == 0:
            print(json.dumps(found), flush=True)
