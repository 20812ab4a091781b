"""Bulk transfers: their plans, and the execution of plans, simulated or live."""
