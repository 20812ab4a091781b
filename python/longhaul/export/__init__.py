"""Export to real machines: scripts for iproute2, netem and tbf."""
