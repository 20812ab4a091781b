"""Sizes of datagrams, and whether they fit the MTU of their path."""

from collections.abc import Iterable

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Node, Plan
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.paths import Routes

DEFAULT_PAYLOAD = 1448
"""Bytes of a datagram whose size the scenario leaves open, where it passes: as iperf3 has it at MTU 1500."""
HEADERS = {"ipv4": 28, "ipv6": 48}
"""Bytes of IP and UDP."""
_BESIDE = 1500 - DEFAULT_PAYLOAD


def payload_at(mtu: int) -> int:
    """Bytes of a datagram whose size is left open, on links of this MTU."""
    return min(DEFAULT_PAYLOAD, mtu - _BESIDE)


def with_sizes(
    scenario: Scenario, plan: Plan, routes: Routes, traffic: Iterable[Plain]
) -> tuple[list[Plain], list[Diagnostic]]:
    """The flows of ``traffic``, those of datagrams with a size; and a warning for each that is too large."""
    found: list[Plain] = []
    warnings = []
    for flow in traffic:
        ways = (routes.way(flow["source"], each) for each in flow["destinations"])
        mtus = [way.mtu for way in ways if way] if flow["kind"] == "udp" else []
        if not mtus:
            found.append(flow)
            continue
        mtu = min(mtus)
        size = flow["size_bytes"] or payload_at(mtu)
        found.append({**flow, "size_bytes": size})
        most = mtu - _headers(plan["nodes"][flow["source"]])
        if size > most and flow["sizes"] == "fixed":
            message = f"datagrams of {size} bytes are too large for MTU {mtu}; simulated ones are lost"
            remedy = f"write {most}B or less"
            warnings.append(
                scenario.warning(Code.DATAGRAM_LOST, ("traffic", flow["name"], "size"), message, remedy)
            )
    return found, warnings


def _headers(node: Node) -> int:
    return HEADERS["ipv6" if node["ipv4"] is None else "ipv4"]
