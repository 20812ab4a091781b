"""Measurements of this machine: what it can do, and what it does by itself."""
