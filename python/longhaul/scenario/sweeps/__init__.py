"""Sweeps of a scenario: axes, variants, and the scenario of each."""
