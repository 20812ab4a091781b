"""Run a program; write its CPU seconds and peak bytes to a descriptor. Arguments: that, then the program's.

A small process in between: Linux counts what a process held before it became another program towards its
peak, and whoever measures may hold a lot.
"""

import os
import sys

child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(int(sys.argv[1]), "w", encoding="ascii") as report:
    report.write(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss * 1024}")
sys.exit(os.waitstatus_to_exitcode(status) != 0)
