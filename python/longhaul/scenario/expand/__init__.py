"""Expansion of a scenario's tree: parameters, topologies, and the values of a sweep's axes."""
