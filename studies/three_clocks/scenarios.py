"""Eight networks that each clock runs, as text of the scenario language."""

from dataclasses import dataclass

SECONDS = 10
HEAD = """version: 1
name: three-clocks
seed: {seed}
duration: {seconds}s
addresses: ipv4
coalesce: {coalesce}
# Until a flow selects another: not every machine lets a host begin with it.
tcp: {{congestion_control: reno}}
profiles: {{lan: {{delay: {last}, rate: 1Gbit}}}}
nodes:
  east1..2: {{kind: host, attach: east, profile: lan}}
  west1..2: {{kind: host, attach: west, profile: lan}}
  east: {{kind: router}}
  west: {{kind: router}}
links:
  wan: {{endpoints: [east, west], {link}}}
traffic:
  probe: {{kind: ping, from: east2, to: west2, every: 20ms}}
"""
FLOW = "  copy{n}: {{kind: tcp, from: east{n}, to: west{n}, cc: {cc}, stop: {stop}s}}\n"
WAN = "delay: 10ms, rate: 100Mbit, queue: 1bdp"


@dataclass(frozen=True)
class Case:
    """One of the networks."""

    link: str
    """The link between the sites."""
    cc: str = "cubic"
    flows: int = 1
    last: str = "250us"
    """Delay of the hosts' links: on the virtual clock, hosts run so far without being asked."""
    chance: bool = False
    """Whether the link's models draw random numbers."""


CASES = {
    "cubic": Case(WAN),
    "reno": Case(WAN, cc="reno"),
    "bbr": Case(WAN, cc="bbr"),
    "loss 0.1 %": Case(f"{WAN}, loss: 0.1%", chance=True),
    "jitter": Case(
        "delay: {base: 10ms, jitter: {dist: normal, sd: 1ms}}, rate: 100Mbit, queue: 1bdp", chance=True
    ),
    "CoDel": Case("delay: 10ms, rate: 100Mbit, queue: {kind: codel}"),
    "four routes": Case(
        "delay: 10ms, queue: 1bdp, routes: {count: 4, policy: round-robin, rate: 25Mbit, "
        "delays: [10ms, 10ms, 10ms, 11ms]}"
    ),
    "LAN": Case("delay: 100us, rate: 100Mbit, queue: 100p", flows=2, last="50us"),
}


def scenario(case: Case, *, seed: int, coalesce: str = "10us") -> str:
    """The scenario of a case."""
    head = HEAD.format(seed=seed, seconds=SECONDS, coalesce=coalesce, link=case.link, last=case.last)
    flows = (FLOW.format(n=n, cc=case.cc, stop=SECONDS - 0.5) for n in range(1, case.flows + 1))
    return head + "".join(flows)
