"""Results: the run directory, its manifest and ending, the readers of its files, and its summary."""
