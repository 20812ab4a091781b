"""The same WAN on real machines: scripts for iproute2, its netem and its token bucket."""
