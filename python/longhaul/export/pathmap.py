"""The path map of a relay: the settings of each machine that route its connections by its gateway.

After PATHS, whose path map lists the way from every thread to everything that it talks to, and whose scripts
put the emulation in by rewriting it.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario import Resolved
from longhaul.scenario.check.clusters import Group, groups, listens_at, target_of
from longhaul.scenario.lower.paths import Routes, pair_ways
from longhaul.scenario.lower.relay import section_of
from longhaul.scenario.model import Relay
from longhaul.scenario.model.address import endpoint_text
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.text import rate_text, time_text

Json = dict[str, Any]


def path_map(resolved: Resolved, *, node: str | None = None) -> list[Json]:
    """Of each cluster, or of that of ``node`` alone: gateway, names, proxies, forwards, and paths to others.

    Raises LonghaulError if there is no such machine.
    """
    relay = section_of(resolved)
    clusters = groups(relay)
    index = {each["name"]: position for position, each in enumerate(resolved.plan["nodes"])}
    routes = Routes(resolved.plan)
    ways = pair_ways(resolved.plan, clusters)
    found: list[Json] = []
    for position, cluster in enumerate(clusters):
        paths: list[Json] = []
        for other, each in enumerate(clusters):
            way = routes.way(index[cluster.site], index[each.site])
            if other == position or way is None:
                continue
            paths.append(
                {
                    "to": each.name,
                    "links": [
                        resolved.plan["links"][link]["name"] for link, _way in ways[position, other] or ()
                    ],
                    "one_way_ns": way.one_way_ns,
                    "round_trip_ns": way.round_trip_ns,
                    "rate_bits_per_s": way.bits_per_s,
                    "gateways": _gateways(relay, cluster, each),
                }
            )
        found.append(
            {
                "cluster": cluster.name,
                "site": cluster.site,
                "gateway": str(cluster.gateway) if cluster.gateway else None,
                "machines": [str(network) for network in cluster.members],
                "names": {name: str(address) for name, address in cluster.names.items()},
                "socks": _socks(relay, cluster),
                "password_file": relay.password_file,
                "forwards": _forwards(relay, cluster, clusters),
                "paths": paths,
            }
        )
    if node is None:
        return found
    home = next((each for each in found if node == each["cluster"] or node in each["names"]), None)
    if home is None:
        known = [name for each in found for name in (each["cluster"], *each["names"])]
        message = f'no cluster or machine is called "{node}"'
        raise LonghaulError(Code.WORD_UNKNOWN, message, remedy=did_you_mean(node, known), exit_code=2)
    return [home]


def shell_text(cluster: Mapping[str, Any]) -> str:
    """Shell commands after which programs of a machine that know proxies go by its gateway."""
    if cluster["socks"] is None:
        return f"# cluster {cluster['cluster']} has no SOCKS gateway: use its forwards, or redirection\n"
    who, given = "", ""
    if cluster["password_file"]:
        who, given = (
            'longhaul:"$password"@',
            f"password=$(head -n 1 {shlex.quote(cluster['password_file'])})\n",
        )
    proxy = f"socks5h://{who}{cluster['socks']}"
    direct = ",".join(cluster["machines"])
    names = ("ALL_PROXY", "all_proxy", "http_proxy", "https_proxy", "HTTPS_PROXY")
    lines = [f"export {name}={proxy}" for name in names]
    lines += [f"export {name}={direct}" for name in ("NO_PROXY", "no_proxy")]
    return f"# a machine of cluster {cluster['cluster']}\n{given}" + "\n".join(lines) + "\n"


def ssh_text(cluster: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> str:
    """Lines for ~/.ssh/config of a machine: the others' names go by its gateway."""
    others = [each for each in every if each["cluster"] != cluster["cluster"]]
    head = f"# a machine of cluster {cluster['cluster']}\n"
    hosts = [name for each in others for name in each["names"]]
    if cluster["socks"] is None or not hosts:
        return f"{head}# nothing: it has no SOCKS gateway, or the others have no names\n"
    password = f" --password-file {shlex.quote(cluster['password_file'])}" if cluster["password_file"] else ""
    command = f"longhaul relay connect --by {cluster['socks']}{password} %h %p"
    return f"{head}Host {' '.join(hosts)}\n  ProxyCommand {command}\n"


def mpi_text(every: Sequence[Mapping[str, Any]], *, ports: tuple[int, int]) -> str:
    """Settings of Open MPI, MPICH and libfabric: only addresses and ports that are redirected."""
    networks = ",".join(network for each in every for network in each["machines"])
    first, last = ports
    lines = [
        "# Open MPI: TCP alone, between these networks, on ports that are redirected. It drops connections",
        "# from another address than their sender's, so the gateway must keep it: docs/how-to/relay.md",
        "export OMPI_MCA_btl=self,sm,tcp OMPI_MCA_pml=ob1",
        f"export OMPI_MCA_btl_tcp_if_include={networks}",
        f"export OMPI_MCA_btl_tcp_port_min_v4={first} OMPI_MCA_btl_tcp_port_range_v4={last - first + 1}",
        "# MPICH, with TCP of its own (ch3) and by libfabric (ch4:ofi)",
        f"export MPIR_CVAR_CH3_PORT_RANGE={first}:{last} MPIEXEC_PORT_RANGE={first}:{last}",
        f"export FI_PROVIDER=tcp FI_TCP_PORT_LOW_RANGE={first} FI_TCP_PORT_HIGH_RANGE={last}",
    ]
    return "\n".join(lines) + "\n"


def redirection_text(
    cluster: Mapping[str, Any], every: Sequence[Mapping[str, Any]], relay: Relay, *, ports: tuple[int, int]
) -> str:
    """What an administrator does once, or a user in namespaces of their own, for transparent gateways."""
    head = f"# gateway of cluster {cluster['cluster']}"
    if relay.transparent is None:
        return f'{head}: the scenario has no "transparent" port to redirect to\n'
    others = [network for each in every if each is not cluster for network in each["machines"]]
    mine = ", ".join(cluster["machines"])
    first, last = ports
    port = relay.transparent.port
    lines = [f"{head}, at which its machines ({mine}) send what is for other clusters, as their router"]
    lines.append("# either: the kernel's address translation, with iptables or nft")
    for network in others:
        tool = "ip6tables" if ":" in network else "iptables"
        rule = f"-p tcp -d {network} --dport {first}:{last} -j REDIRECT --to-ports {port}"
        lines.append(f"{tool} -t nat -A PREROUTING {rule}")
    lines += [
        "nft add table inet longhaul",
        "nft 'add chain inet longhaul redirect { type nat hook prerouting priority dstnat; }'",
    ]
    for network in others:
        family = "ip6" if ":" in network else "ip"
        rule = f"{family} daddr {network} tcp dport {first}-{last} redirect to :{port}"
        lines.append(f"nft 'add rule inet longhaul redirect {rule}'")
    lines += [
        "# or: policy routing (AnyIP), where connections keep their ports; IFACE leads to the machines",
        "ip rule add iif IFACE lookup 100",
    ]
    lines += [f"ip {'-6 ' if ':' in each else ''}route add local {each} dev lo table 100" for each in others]
    return "\n".join(lines) + "\n"


def _socks(relay: Relay, cluster: Group) -> str | None:
    if relay.socks is None or cluster.gateway is None:
        return None
    return endpoint_text(cluster.gateway, relay.socks)


def _gateways(relay: Relay, source: Group, destination: Group) -> list[str]:
    """The gateways that a connection passes."""
    both = (source, destination) if relay.gateways == "chained" else (source,)
    return list(dict.fromkeys(str(each.gateway) for each in both if each.gateway is not None))


def _forwards(relay: Relay, cluster: Group, clusters: Sequence[Group]) -> list[Json]:
    found = []
    for forward in relay.forwards:
        target, at = target_of(forward, clusters), listens_at(forward, clusters)
        if forward.source == cluster.name and target is not None and at is not None:
            found.append(
                {
                    "listen": endpoint_text(at, forward.listen.port),
                    "to": str(forward.to),
                    "target": endpoint_text(target[0], forward.to.port),
                    "cluster": None if target[1] is None else clusters[target[1]].name,
                    "protocol": forward.protocol,
                }
            )
    return found


def port_range(text: str) -> tuple[int, int] | None:
    """``20000-20999`` as its first and last port; ``None`` if it is not a range of ports."""
    first, _, last = text.partition("-")
    good = first.isdecimal() and last.isdecimal() and 0 < int(first[:6]) <= int(last[:6]) < 65_536
    return (int(first), int(last)) if good else None


Form = Literal["words", "shell", "ssh", "mpi", "redirect", "json"]


def path_map_text(resolved: Resolved, *, node: str | None, form: Form, ports: tuple[int, int]) -> str:
    """The path map of all clusters, or of that of ``node``; raises LonghaulError if there is none."""
    relay, every = section_of(resolved), path_map(resolved)
    chosen = path_map(resolved, node=node)
    match form:
        case "json":
            return json.dumps(chosen, indent=1) + "\n"
        case "shell":
            return "\n".join(shell_text(each) for each in chosen)
        case "ssh":
            return "\n".join(ssh_text(each, every) for each in chosen)
        case "mpi":
            return mpi_text(every, ports=ports)
        case "redirect":
            mine = [each for each in every if each in chosen]
            return "\n".join(redirection_text(each, every, relay, ports=ports) for each in mine)
        case "words":
            return "\n".join(_words(each) for each in chosen)


def _words(cluster: Mapping[str, Any]) -> str:
    lines = [f"cluster {cluster['cluster']}, gateway {cluster['gateway'] or 'none'}"]
    if cluster["machines"]:
        lines.append(f"  machines  {', '.join(cluster['machines'])}")
    if cluster["names"]:
        known = [f"{name} {address}" for name, address in cluster["names"].items()]
        lines.append(f"  names     {', '.join(known[:4])}" + (f" ... {known[-1]}" if len(known) > 4 else ""))
    if cluster["socks"]:
        lines.append(f"  socks     {cluster['socks']}")
    for forward in cluster["forwards"]:
        where = f" ({forward['cluster']})"
        lines.append(f"  forward   {forward['listen']} {forward['protocol']} -> {forward['to']}{where}")
    for path in cluster["paths"]:
        figures = [f"{time_text(path['one_way_ns'])} one way", f"RTT {time_text(path['round_trip_ns'])}"]
        if path["rate_bits_per_s"] is not None:
            figures.append(rate_text(path["rate_bits_per_s"]))
        by = f" by {' and '.join(path['gateways'])}" if path["gateways"] else ""
        lines.append(f"  path      to {path['to']}{by}: {', '.join(path['links'])}; {', '.join(figures)}")
    return "\n".join(lines) + "\n"
