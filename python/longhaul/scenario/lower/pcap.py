"""Captures as traffic: their packets between hosts, and when each leaves."""

import ipaddress
import json
from collections.abc import Mapping
from typing import Any

from longhaul._longhaul import InvalidValueError, RewrittenCapture
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Plan
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.main_tables import choose_interface
from longhaul.scenario.lower.network import Network
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.model import Pcap
from longhaul.scenario.model.start import earliest_ns
from longhaul.scenario.syntax.value_errors import ScenarioValueError

_LEFT_OUT = {
    "no_ip": "are not IP",
    "not_unicast": "are multicast, broadcast, link-local or loopback",
    "unmapped": "have an address that no host stands for",
    "other_pairs": "are of another direction, or between addresses of one host",
    "no_address": "are of an IP version of which the hosts have no addresses",
    "damaged": "are cut within their headers, or damaged",
    "link_type": "are of a link type that cannot be read",
}


def plan_pcap(
    scenario: Scenario, name: str, flow: Pcap, network: Network, plan: Plan, routes: Routes, inputs: Inputs
) -> tuple[list[Plain], list[Diagnostic]]:
    """A flow for each pair of hosts between which the capture has packets, and warnings.

    Raises ScenarioValueError.
    """
    content = inputs.capture(flow.file, at="file")
    rules, ends = _rules(flow, network, plan, routes)
    try:
        found = RewrittenCapture(content, json.dumps(rules))
    except InvalidValueError as error:
        message, remedy = f'"{flow.file}": {error.message}', error.remedy or "capture again"
        raise ScenarioValueError(Code.CAPTURE_UNUSABLE, ("file",), message, remedy) from None
    except OSError as error:
        message = f'"{flow.file}" cannot be unpacked: {error}'
        raise ScenarioValueError(Code.CAPTURE_UNUSABLE, ("file",), message, "pack it again") from None
    tally = json.loads(found.tally())
    if not tally["sent"]:
        raise _nothing_to_send(flow, tally)
    columns = [[list(each) for each in found.columns(pair)] for pair in range(len(ends))]
    every_ns = _every_ns(flow, max(at_ns[-1] for at_ns, *_rest in columns if at_ns), tally["sent"])
    planned: list[Plain] = [
        {
            "name": name,
            "kind": "pcap",
            "file": flow.file,
            "source": network.node_index[source],
            "destinations": [network.node_index[destination]],
            "ends": list(ends[pair]),
            "is_one_of_several": len(ends) > 1,
            "pair": pair,
            "rules": rules,
            "start_ns": earliest_ns(flow.start),
            "stop_ns": flow.stop.ns if flow.stop else None,
            "simulated": flow.simulated,
            "packets": dict(zip(("at_ns", "bytes", "flow", "class", "ttl"), columns[pair], strict=True)),
            "bytes": sum(columns[pair][1]) * flow.repeat,
            "repeat": flow.repeat,
            "every_ns": every_ns,
        }
        for pair, (source, destination) in enumerate(flow.pairs())
        if columns[pair][0]
    ]
    return planned, list(_warnings(scenario, name, flow, tally))


def rewritten(item: Mapping[str, Any], content: bytes) -> RewrittenCapture:
    """The capture of a planned flow, with the bytes of its packets."""
    return RewrittenCapture(content, json.dumps(item["rules"]))


def _rules(
    flow: Pcap, network: Network, plan: Plan, routes: Routes
) -> tuple[dict[str, Any], list[tuple[int, int]]]:
    """What is to be made of the capture, and the interfaces of each pair of hosts."""
    nodes = plan["nodes"]

    def addresses(index: int) -> dict[str, str | None]:
        return {"ipv4": nodes[index]["ipv4"], "ipv6": nodes[index]["ipv6"]}

    pairs, ends = [], []
    for names in flow.pairs():
        source, destination = (network.node_index[each] for each in names)
        mine = choose_interface(nodes, source, destination)
        theirs = routes.answering(destination, mine)
        way = routes.way(source, destination)
        ends.append((mine, theirs))
        pairs.append(
            {
                "from": source,
                "to": destination,
                "source": addresses(mine),
                "destination": addresses(theirs),
                "mtu": way.mtu if way else nodes[mine]["mtu"],
            }
        )
    sides: dict[str, Any]
    if flow.addresses is None:
        client, server = (network.node_index[str(each)] for each in (flow.source, flow.to))
        sides = {"conversations": {"client": client, "server": server}}
    else:
        prefixes = [
            (ipaddress.ip_network(written), network.node_index[host])
            for written, host in flow.addresses.items()
        ]
        sides = {"prefixes": [(str(net.network_address), net.prefixlen, host) for net, host in prefixes]}
    timing = {"bits-per-s": flow.rate.bits_per_s} if flow.rate else {"speed": flow.speed or 1.0}
    return {"sides": sides, "interface": flow.interface, "timing": timing, "pairs": pairs}, ends


def _every_ns(flow: Pcap, last_ns: int, packets: int) -> int:
    """From the begin of one pass to the begin of the next; all packets of a pass leave before."""
    if flow.every is None:
        # As if the capture went on: with a mean gap after its last packet.
        return max(last_ns + (last_ns // (packets - 1) if packets > 1 else 0), 1)
    if flow.every.ns < last_ns:
        message = f"{flow.every} is shorter than a pass, which takes {last_ns / 1e9:.6g} s"
        raise ScenarioValueError(
            Code.INTERVAL_TOO_SHORT, ("every",), message, "write a longer time, or leave it out"
        )
    return max(flow.every.ns, 1)


def _nothing_to_send(flow: Pcap, tally: Mapping[str, Any]) -> ScenarioValueError:
    if not tally["packets"]:
        return ScenarioValueError(
            Code.CAPTURE_UNUSABLE, ("file",), f'"{flow.file}" has no packets', "capture some"
        )
    message = f'"{flow.file}" has no packets to send: {_reasons(tally)}'
    remedy = "change direction, from and to" if flow.addresses is None else "name the addresses that it has"
    if tally["left_out"]["link_type"]:
        remedy = "capture Ethernet, raw IP, loopback or Linux cooked frames (tcpdump -i INTERFACE)"
    return ScenarioValueError(Code.CAPTURE_UNUSABLE, ("file",), message, remedy)


def _reasons(tally: Mapping[str, Any]) -> str:
    each = [f"{count:,} {_LEFT_OUT[why]}" for why, count in tally["left_out"].items() if count]
    return f"of {tally['packets']:,}, {'; '.join(each)}"


def _warnings(scenario: Scenario, name: str, flow: Pcap, tally: Mapping[str, Any]) -> "list[Diagnostic]":
    """What the traffic does not have of the capture, or has otherwise."""
    found: list[tuple[Code, str, str | None]] = []
    code = Code.CAPTURE_CHANGED
    unwanted = flow.direction != "both"
    left_out = {why: count for why, count in tally["left_out"].items() if count}
    if set(left_out) - ({"other_pairs"} if unwanted else set()):
        total = sum(left_out.values())
        found.append((code, f"{total:,} packets are not sent: {_reasons(tally)}", None))
    if tally["broken_off"] is not None:
        message = f"the file breaks off within a packet, at byte {tally['broken_off']}; those before are sent"
        found.append((code, message, None))
    # Longhaul's own captures have an interface for each direction of a link, both with its name.
    names = list(dict.fromkeys(tally["interfaces"]))
    if len(names) > 1:
        message = f"packets of {len(names)} interfaces are sent, some perhaps twice: {', '.join(names)}"
        found.append((code, message, "name one of them: interface: NAME"))
    if tally["padded"]:
        message = f"{tally['padded']:,} packets were cut at capture, and have zeros in place of their ends"
        found.append((code, message, "capture whole packets: tcpdump -s 0"))
    if tally["split"]:
        message = f"{tally['split']:,} TCP packets are longer than the MTU, and are sent as several"
        found.append((code, message, None))
    if tally["too_big"]:
        message = f"{tally['too_big']:,} packets of up to {tally['largest']:,} bytes are longer than the MTU"
        found.append(
            (Code.DATAGRAM_LOST, f"{message}, and are lost", "raise the MTU, or capture without offloads")
        )
    return [
        scenario.warning(each, ("traffic", name, "file"), message, remedy) for each, message, remedy in found
    ]
