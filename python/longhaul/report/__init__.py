"""Figures, tables and the one-file report of a run."""
