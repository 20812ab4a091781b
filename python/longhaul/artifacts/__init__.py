"""Artifacts: runs with all that others need to repeat and to evaluate them, in one archive."""
