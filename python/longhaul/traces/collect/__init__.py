"""Collection of traces of real links by an ordinary user: client, server and cliques of both."""
