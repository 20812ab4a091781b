"""Scenarios made from topologies: of files, of measured paths, and built in."""
