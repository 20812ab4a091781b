"""Longhaul: a laboratory for wide-area networks between clusters."""
