"""Traces of real links, collected by an ordinary user: a client, a server, cliques of both."""
