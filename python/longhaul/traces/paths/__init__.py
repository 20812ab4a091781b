"""Paths between real hosts: probed here, or read from what other programs saved."""
