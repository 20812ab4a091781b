"""Shapes of networks as elements: routers, hosts, links between them."""
