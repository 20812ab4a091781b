"""Sweeps: thousands of simulated runs, in shards, on this machine or a cluster."""
