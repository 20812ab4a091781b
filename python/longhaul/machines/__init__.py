"""Live runs on several machines: an agent on each, links that cross between them, one run directory."""
