"""``python -m longhaul.workloads``."""

from longhaul.workloads.main import main

main()
