"""Scripts in the style of eWAN (Vicat-Blanc Primet et al., PFLDnet 2006, Fig. 3).

Each segment is a subnet of 192.168.0.0/16, a link emulator is a hop that runs NIST Net, an access point
limits rates with a token bucket. The first interface is an alias on the management device. For reading and
comparing with the paper: NIST Net went with Linux 2.4.
"""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.export.deployment import Deployment, Machine, Port
from longhaul.export.qdiscs import Kernel, percent, rate, time
from longhaul.plan import Direction, Link, Plan

_ALL = IPv4Network("192.168.0.0/16")
_SEGMENT = 24


def addressed(deployment: Deployment) -> Deployment:
    """The same with an address for each interface: those given, or in segment k of 192.168.k.0/24."""
    ports = [port for machine in deployment.machines for port in machine.ports]
    if all(port.address for port in ports):
        return deployment
    if any(port.address for port in ports):
        where = next(f"{m.name} to {p.peer}" for m in deployment.machines for p in m.ports if not p.address)
        remedy = "write {device: eth1, address: 192.168.1.1} for each interface, or for none"
        raise LonghaulError(
            Code.MACHINES_INVALID, f"the interface of {where} has no address", remedy=remedy, exit_code=2
        )
    segments: dict[frozenset[str], int] = {}
    machines = []
    for machine in deployment.machines:
        found = []
        for position, port in enumerate(machine.ports):
            key = frozenset((machine.name, port.peer, port.link))
            first = key not in segments
            number = segments.setdefault(key, len(segments))
            if number > 255:
                raise LonghaulError(
                    Code.EXPORT_IMPOSSIBLE,
                    "eWAN's style has 256 segments",
                    remedy="use longhaul's",
                    exit_code=2,
                )
            device = "eth0:0" if position == 0 else f"eth{position}"
            address = str(_ALL[256 * number + (1 if first else 2)])
            found.append(replace(port, address=address, device=device))
        machines.append(replace(machine, ports=tuple(found)))
    return replace(deployment, machines=tuple(machines))


def header(machine: Machine) -> str:
    """Which machine it is, what it plays, and its addresses."""
    role = "" if machine.node is None else f"{machine.role.title()} "
    lines = [f"Machine {machine.number} IP : {machine.managed_at} emulate : {role}{machine.name}"]
    lines += [f"IP{position}: {port.address}" for position, port in enumerate(machine.ports)]
    return "".join(f"# {line}\n" for line in lines)


def script(deployment: Deployment, machine: Machine, plan: Plan, kernel: Kernel) -> str:
    """The script of ``machine``; raises :class:`LonghaulError` for what NIST Net did not have."""
    return header(machine) + "".join(f"{line}\n" for line in _lines(deployment, machine, plan, kernel))


def _lines(deployment: Deployment, machine: Machine, plan: Plan, kernel: Kernel) -> Iterator[str]:
    management = deployment.management
    if management is None or machine.managed_at is None:
        remedy = "name a file with --machines, with management: {device: eth0, gateway: 192.0.2.1}"
        raise LonghaulError(
            Code.MACHINES_INVALID, "eWAN's scripts set the management network up", remedy=remedy, exit_code=2
        )
    yield "ip address flush label eth*;"
    yield f"ifconfig {management.device} {machine.managed_at} netmask 255.255.255.0;"
    yield f"route add default netmask 0.0.0.0 gw {management.gateway} dev {management.device};"
    for port in machine.ports:
        yield f"ifconfig {port.device} mtu {port.mtu} {port.address};"
    links = {link["name"]: link for link in plan["links"]}
    if machine.node is None:
        yield from _emulator(links[machine.name])
    elif machine.role == "access point":
        for port in machine.ports:
            if port.shaping and port.shaping.commands:
                yield from _bucket(port, links[port.link][port.way], kernel)
    yield from _routes(deployment, machine)


def _emulator(link: Link) -> Iterator[str]:
    there, back = link["forward"], link["reverse"]
    what = f'link "{link["name"]}"'
    if any(there[key] != back[key] for key in ("delay", "loss")):
        remedy = "write the same models for both directions"
        raise LonghaulError(
            Code.EXPORT_IMPOSSIBLE,
            f"{what}: NIST Net's one rule is for both ways",
            remedy=remedy,
            exit_code=2,
        )
    delay, loss = there["delay"], there["loss"]
    if delay["model"] != "constant" or (loss["model"] != "none" and loss["model"] != "independent"):
        remedy = "write a constant delay and independent losses"
        raise LonghaulError(
            Code.EXPORT_IMPOSSIBLE,
            f"{what}: eWAN gave NIST Net delay and drop alone",
            remedy=remedy,
            exit_code=2,
        )
    drop = percent(loss["probability"] if loss["model"] == "independent" else 0.0).removesuffix("%")
    yield 'if [ -z "`cnistnet -Fd 2>/dev/stdout| grep command`" ];'
    yield "then modprobe -r nistnet;"
    yield "modprobe nistnet;"
    yield "cnistnet -u;"
    yield f"cnistnet -a 0.0.0.0 0.0.0.0 --delay {delay['delay_ns'] / 1e6:g} --drop {drop} > /dev/null;"
    yield "else echo NIST Net not available;"
    yield "fi;"


def _bucket(port: Port, direction: Direction, kernel: Kernel) -> Iterator[str]:
    """A queue of some time at the rate is tbf's latency; the burst is what was written."""
    model, queue = direction["rate"], direction["queue"]
    if model["model"] not in ("constant", "token-bucket"):
        return
    bits_per_s = model["bits_per_s"]
    burst = model.get("burst_bytes") or max(-(-bits_per_s // (8 * kernel.hz)), 2 * port.mtu)
    size = (
        queue["limit_bytes"] if queue["limit_bytes"] is not None else (queue["limit_packets"] or 0) * port.mtu
    )
    latency = time(size * 8 * 10**9 // bits_per_s)
    words = f"tbf rate {rate(bits_per_s)} latency {latency} burst {burst}"
    yield f"tc qdisc replace dev {port.device} root {words};"


def _routes(deployment: Deployment, machine: Machine) -> Iterator[str]:
    """Everything through the first interface, and what lies behind the others subnet by subnet."""
    for position, port in enumerate(machine.ports):
        device = port.device.partition(":")[0]
        gateway = _far_address(deployment, machine, port)
        if position == 0:
            yield f"route add -net {_ALL.network_address} netmask {_ALL.netmask} gw {gateway} dev {device};"
            continue
        for subnet in _behind(deployment, machine, port):
            net = subnet.network_address
            yield f"route add -net {net} gw {gateway} netmask {subnet.netmask} dev {device};"


def _far_address(deployment: Deployment, machine: Machine, port: Port) -> str:
    there = deployment.machine(port.peer)
    return next(
        str(each.address) for each in there.ports if (each.peer, each.link) == (machine.name, port.link)
    )


def _behind(deployment: Deployment, machine: Machine, port: Port) -> list[IPv4Network]:
    """Subnets beyond the neighbour at ``port``, in the order of a walk that does not come back here."""
    seen, found = {machine.name}, []
    known = {_subnet(each) for each in machine.ports}
    waiting = [port.peer]
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        for each in deployment.machine(name).ports:
            subnet = _subnet(each)
            if subnet not in known:
                known.add(subnet)
                found.append(subnet)
            waiting.append(each.peer)
    return found


def _subnet(port: Port) -> IPv4Network:
    return IPv4Network(f"{port.address}/{_SEGMENT}", strict=False)
