"""The commands of ``longhaul trace``."""
