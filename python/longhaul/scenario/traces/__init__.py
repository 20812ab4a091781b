"""Traces: round-trip time and rate of a path over time, as files, tables and random series."""

from longhaul.scenario.traces.trace import COLUMNS, DELAY, RATE, RTT, Row, Trace, Way

__all__ = ["COLUMNS", "DELAY", "RATE", "RTT", "Row", "Trace", "Way"]
