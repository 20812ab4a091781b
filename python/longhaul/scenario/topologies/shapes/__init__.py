"""Shapes of networks, as elements one after the other: routers, hosts on them, joints between them."""
