"""The plan of a relay (`crates/relay`) from a resolved scenario."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.scenario.check.clusters import Group, chain_port, groups, listens_at, target_of
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.paths import pair_ways
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.model import Relay
from longhaul.scenario.model.address import endpoint_text
from longhaul.scenario.syntax.problems import did_you_mean

RELAY_VERSION = 1


@dataclass(frozen=True)
class RelayPlan:
    """What one process of a relay does."""

    plan: Plain
    """Exactly the format of `crates/relay`, ready for JSON; without the password."""
    clusters: tuple[Group, ...]
    password_file: str | None
    """Relative to the scenario."""
    warnings: tuple[Diagnostic, ...]

    def with_password(self, password: str | None) -> Plain:
        """The plan with a password, not to be written anywhere."""
        return {**self.plan, "password": password}


def section_of(resolved: Resolved) -> Relay:
    """Section ``relay``; raises :class:`LonghaulError` if there is none."""
    relay = resolved.scenario.document.relay
    if relay is None:
        raise LonghaulError(
            Code.RELAY_INCOMPLETE,
            f"{resolved.scenario.source.name} has no section relay",
            remedy="add relay: {clusters: {...}, socks: 1080}, as docs/how-to/relay.md shows",
            exit_code=2,
        )
    return relay


def plan_relay(resolved: Resolved, *, gateway: str | None = None) -> RelayPlan:
    """The plan of the gateway of one cluster, or of all in one process.

    Raises :class:`LonghaulError` if the scenario wants it the other way, or has no such cluster.
    """
    relay = section_of(resolved)
    clusters = groups(relay)
    here = _here(relay, clusters, gateway)
    ways = pair_ways(resolved.plan, clusters)
    used = sorted({link for steps in ways.values() for link, _way in steps or ()})
    events = [
        {**each, "link": used.index(each["link"])} for each in resolved.plan["events"] if each["link"] in used
    ]
    plan: Plain = {
        "version": RELAY_VERSION,
        "name": resolved.plan["name"],
        "seed": resolved.plan["seed"],
        "duration_ns": resolved.plan["duration_ns"],
        "links": [
            {key: resolved.plan["links"][index][key] for key in ("name", "forward", "reverse")}
            for index in used
        ],
        "clusters": [
            {"name": each.name, "members": [str(network) for network in each.members]} for each in clusters
        ],
        "paths": [
            {
                "from": source,
                "to": destination,
                "steps": [{"link": used.index(link), "way": way} for link, way in steps],
            }
            for (source, destination), steps in ways.items()
            if steps is not None
        ],
        "listeners": _listeners(relay, clusters, here),
        "names": {name: str(address) for each in clusters for name, address in each.names.items()},
        "share": relay.sharing,
        "algorithm": relay.algorithm,
        "framing": relay.framing,
        "inward": here if relay.gateways == "chained" else None,
        "peers": _peers(relay, clusters, here),
        "password": None,
        "retransmit_ns": relay.retransmit.ns if relay.retransmit is not None else None,
        "subtract_ns": relay.subtract.ns,
        "buffer_bytes": relay.buffer.bytes if relay.buffer is not None else None,
        "memory_bytes": relay.memory.bytes,
        "connections": relay.connections,
        "events": events,
        "log": {"messages": relay.log.messages, "limit_bytes": relay.log.limit.bytes},
    }
    warnings = (*_ignored(resolved, len(events)), *_open_proxies(resolved, relay, plan))
    return RelayPlan(plan, tuple(clusters), relay.password_file, warnings)


def reachable_listeners(plan: Plain) -> list[Plain]:
    """The listeners of a relay's plan that other machines may reach: all that are not at loopback."""
    return [
        each
        for each in plan["listeners"]
        if not ip_address(each["address"].rpartition(":")[0].strip("[]")).is_loopback
    ]


def _here(relay: Relay, clusters: Sequence[Group], gateway: str | None) -> list[int]:
    """The clusters whose gateways this process is."""
    names = [each.name for each in clusters]
    if gateway is not None and gateway not in names:
        message = f'there is no cluster "{gateway}"'
        raise LonghaulError(Code.CLUSTER_UNKNOWN, message, remedy=did_you_mean(gateway, names), exit_code=2)
    if relay.gateways == "together" and gateway is not None:
        message = "the scenario says that one process is the gateway of all clusters"
        remedy = "leave --gateway out, or write gateways: apart or chained"
        raise LonghaulError(Code.GATEWAY_NOT_NAMED, message, remedy=remedy, exit_code=2)
    if relay.gateways != "together" and gateway is None:
        message = f"gateways are {relay.gateways}: each is a process of its own"
        remedy = f"say which this is: --gateway {' or '.join(names)}"
        raise LonghaulError(Code.GATEWAY_NOT_NAMED, message, remedy=remedy, exit_code=2)
    if gateway is not None and clusters[names.index(gateway)].gateway is None:
        message = f'cluster "{gateway}" has no gateway'
        raise LonghaulError(
            Code.GATEWAY_MISSING, message, remedy="give it one: gateway: ADDRESS", exit_code=2
        )
    return [names.index(gateway)] if gateway is not None else list(range(len(clusters)))


def _listeners(relay: Relay, clusters: Sequence[Group], here: Sequence[int]) -> list[Plain]:
    found: list[Plain] = []
    for position in here:
        gateway = clusters[position].gateway
        if gateway is None:
            continue
        alone = sum(each.gateway == gateway for each in clusters) == 1
        # At an address that several clusters share, a client's own address tells where it is.
        whose: Plain = {"from": position} if alone else {}
        if relay.socks is not None:
            found.append({"kind": "socks", "address": endpoint_text(gateway, relay.socks), **whose})
        if relay.gateways == "chained":
            found += [
                {
                    "kind": "socks",
                    "address": endpoint_text(gateway, chain_port(relay, other)),
                    "from": other,
                }
                for other in range(len(clusters))
                if other != position
            ]
    if relay.transparent is not None:
        listen = relay.transparent
        address = endpoint_text(listen.address, listen.port) if listen.address else f"0.0.0.0:{listen.port}"
        whose = {"from": here[0]} if len(here) == 1 else {}
        found.append({"kind": "transparent", "address": address, **whose})
    names = [each.name for each in clusters]
    for forward in relay.forwards:
        source = names.index(forward.source)
        target = target_of(forward, clusters)
        at = listens_at(forward, clusters)
        if source not in here or target is None or at is None:
            continue
        found.append(
            {
                "kind": "forward" if forward.protocol == "tcp" else "datagrams",
                "address": endpoint_text(at, forward.listen.port),
                "target": endpoint_text(target[0], forward.to.port),
                "from": source,
                "to": target[1],
            }
        )
    return list({str(each): each for each in found}.values())


def _peers(relay: Relay, clusters: Sequence[Group], here: Sequence[int]) -> list[Plain]:
    if relay.gateways != "chained":
        return []
    return [
        {"cluster": other, "address": endpoint_text(each.gateway, chain_port(relay, here[0]))}
        for other, each in enumerate(clusters)
        if other not in here and each.gateway is not None
    ]


def _open_proxies(resolved: Resolved, relay: Relay, plan: Plain) -> Iterator[Diagnostic]:
    """Warnings about SOCKS at addresses that other machines may reach, for whoever connects."""
    for listener in reachable_listeners(plan):
        if listener["kind"] == "socks" and relay.password_file is None:
            yield resolved.scenario.warning(
                Code.OPEN_PROXY,
                ("relay", "socks"),
                f"SOCKS at {listener['address']} accepts connections without a password: an open proxy",
                "set a password file, listen at 127.0.0.1, or limit the machines of the clusters",
            )


def _ignored(resolved: Resolved, events: int) -> tuple[Diagnostic, ...]:
    """What of the scenario means nothing to a relay."""
    scenario, document = resolved.scenario, resolved.scenario.document
    told = [
        scenario.warning(
            Code.RELAY_IGNORES, (key,), f"a relay runs no {key}", "start them yourself, by its gateways"
        )
        for key in ("programs", "traffic")
        if getattr(document, key)
    ]
    if events < len(resolved.plan["events"]):
        told.append(
            scenario.warning(
                Code.RELAY_IGNORES, ("events",), "some change links that no path between clusters uses"
            )
        )
    return tuple(told)
