"""Import of labs of other tools: containerlab, Mininet, Kollaps, netlab and docker-compose as scenarios."""
