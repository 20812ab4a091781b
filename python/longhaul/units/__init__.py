"""Quantities: their spelling in scenarios, and their text for people."""
