"""Measurements of real paths: traces of delay and rate, hops, and losses."""
