"""The local page: a server on this machine's own address, and the page that it serves."""
