"""Bulk transfers: transfer plans, simulated or live."""
