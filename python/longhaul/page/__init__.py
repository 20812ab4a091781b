"""The page: a server at a loopback address, and the graphical page that it serves."""
