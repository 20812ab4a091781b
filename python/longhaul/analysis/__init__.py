"""Analysis: pure functions from the records of a run to measures and verdicts."""
