"""The commands of ``longhaul transfer``."""
