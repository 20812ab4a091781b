"""Relays: gateways of the application level, served, recorded and asked."""
