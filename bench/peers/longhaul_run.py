"""One simulated run in a process of its own: a plan on standard input, what it counted on standard output.

The first argument names the scheduler, the second, if there is one, a directory to write records into.
"""

import ctypes
import gc
import json
import os
import sys

from longhaul import _longhaul

EVENTS_AT_ONCE = 1_000_000
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Memory of this process now, without what it has freed already."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * PAGE_BYTES


def cpu_s() -> float:
    """User and system time of this process so far."""
    times = os.times()
    return times.user + times.system


if __name__ == "__main__":
    plan = sys.stdin.read()
    empty = resident_bytes()
    simulation = _longhaul.Simulation(
        plan, scheduler=sys.argv[1], directory=sys.argv[2] if len(sys.argv) > 2 else None
    )
    del plan
    built, began = resident_bytes(), cpu_s()
    while not simulation.advance(EVENTS_AT_ONCE):
        pass
    ran = cpu_s() - began
    memory = {"empty_bytes": empty, "built_bytes": built, "ended_bytes": resident_bytes()}
    json.dump({**memory, "ran_s": ran, "counted": json.loads(simulation.finish())}, sys.stdout)
