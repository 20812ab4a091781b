"""Sweeps of a scenario: axes, the variants that they make, and the scenario of each."""
