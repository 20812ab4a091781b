"""Runs: their processes, run directories and results."""
