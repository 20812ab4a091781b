"""Artifacts of runs: runs that are repeated, and compared metric by metric."""
