"""Measures and judgements: pure functions from what a run left to what it means."""
