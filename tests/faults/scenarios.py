"""Scenarios that several tests of faults use."""

NEAR_AND_FAR = """
version: 1
name: t
nodes: {near: {kind: router}, far: {kind: router}}
links: {wan: {endpoints: [near, far], delay: 1ms}}
relay:
  clusters:
    near: {gateway: 127.1.0.1, machines: 127.1.0.0/24}
    far: {gateway: 127.2.0.1, machines: 127.2.0.0/24}
  socks: 0
"""
"""A relay between two clusters."""
