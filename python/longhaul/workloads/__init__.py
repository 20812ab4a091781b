"""Parallel programs to run over a network: kernels, benchmarks, patterns of messages."""
