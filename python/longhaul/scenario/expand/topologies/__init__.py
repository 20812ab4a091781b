"""Scenarios from topologies: files, measured paths, built-in ones."""
