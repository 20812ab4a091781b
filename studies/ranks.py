"""A rank of kernels of the NAS parallel benchmarks, one after the other, so that Python starts once.

``python ranks.py KERNEL:CLASS[=SECONDS] ...`` under mpirun. With seconds, as many as one rank alone would
compute, a kernel only sends its messages and sleeps, as it does while it waits for messages. The first rank
prints a line of JSON for each kernel.
"""

import json
import sys
from importlib import import_module

from longhaul.workloads import costs
from longhaul.workloads.commands.kernels import MODULES, measured
from longhaul.workloads.job import Job
from longhaul.workloads.starting import communicator
from longhaul.workloads.waiting import SleepingComm

with communicator() as world:
    for each in sys.argv[1:]:
        size, _, seconds = each.partition("=")
        name, problem = size.split(":")
        kernel = import_module(f"longhaul.workloads.{MODULES[name]}")
        if seconds:
            phases = costs.scaled(costs.shipped(name), kernel.totals(problem), float(seconds))
            job = Job(SleepingComm(world), costs_ns=phases)
        else:
            job = Job(world)
        verified = kernel.run(job, problem).verified
        found = {"workload": name, **measured(job), "verified": verified}
        if job.rank == 0:
            print(json.dumps(found), flush=True)
