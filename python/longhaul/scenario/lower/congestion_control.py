"""Where a plan says which congestion control a host has, and which it has if nothing says so."""

CC_SYSCTL = "net.ipv4.tcp_congestion_control"
"""Of a node's ``sysctls``."""
DEFAULT_CC = "cubic"
"""The congestion-control algorithm of hosts and flows that name none, live and simulated."""
