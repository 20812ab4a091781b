"""A scenario with one link between two hosts, which studies compare with Linux."""


def two_hosts(name: str, *, seed: int, seconds: int, link: str, traffic: str, more: str = "") -> str:
    """The text of the scenario. ``link``: models of the link ``wan`` from ``a`` to ``b``; ``traffic``: lines.

    ``more``: other sections. Where a flow names no algorithm it uses Reno.
    """
    return f"""version: 1
name: {name}
seed: {seed}
duration: {seconds}s
addresses: ipv4
tcp: {{congestion_control: reno}}
nodes:
  a: {{kind: host}}
  b: {{kind: host}}
links:
  wan: {{endpoints: [a, b], {link}}}
traffic:
{traffic}{more}"""
