"""A second opinion: a scenario's links made of Linux's queueing disciplines, and both results compared.

One guest kernel has a network namespace for each node, pairs of virtual Ethernet devices for the links, and
netem, tbf and the queueing disciplines of Linux where a run of Longhaul has its own models. Its clock jumps
from event to event, so that neither needs privileges or a quiet machine.
"""
