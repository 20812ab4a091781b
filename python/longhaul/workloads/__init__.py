"""Parallel programs to run over a network: kernels, benchmarks, patterns of messages.

They are real programs. Flows that Longhaul generates, such as those of ``tcp``, ``udp`` and ``requests``, are
the section ``traffic`` of a scenario.
"""
