"""Benchmarks by published suites, live and simulated: of congestion control, of queue disciplines."""
