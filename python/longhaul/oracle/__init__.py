"""Comparison with Linux: a scenario's links made of its queueing disciplines, and both results side by side.

One guest kernel has a network namespace for each node, pairs of virtual Ethernet devices for the links, and
netem, tbf and the queueing disciplines of Linux where a run of Longhaul has its own models. Its clock skips
the time in which nothing happens, so that neither needs privileges or a quiet machine.
"""
