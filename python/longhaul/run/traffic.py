"""Traffic of a scenario as programs: iperf3 and ping, and our own generators for others."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, assert_never

from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.plan import End, Flow, Node, Part, Program, Ready
from longhaul.scenario.lower.congestion_control import CC_SYSCTL
from longhaul.scenario.lower.flow_names import flow_name, probe_name
from longhaul.scenario.lower.main_tables import owner_of
from longhaul.scenario.model.traffic import Kind, transport
from longhaul.subprocesses import find_program
from longhaul.subprocesses import program as installed

if TYPE_CHECKING:
    from longhaul.scenario import Resolved


FIRST_PORT = 5201
"""Ports of the iperf3 servers, counted up over all flows so that none meets another."""
FIRST_IDENTIFIER = 5201
"""ICMP identifiers of pings, by which the network's counts tell them apart."""

_NS = 1_000_000_000
_READY_NS = 10 * _NS
_PACED = ("bbr",)
"""Congestion controls that have the kernel pace a connection, which it then does to its end."""
_CLOSING_NS = _NS // 2
"""What an iperf3 client needs after its last second, to be told what arrived."""

Plan = Mapping[str, Any]


def command(item: Mapping[str, Any]) -> Literal["ping", "iperf3"] | None:
    """The program of this machine that sends traffic; ``None``: Longhaul itself."""
    kind: Kind = item["kind"]
    match kind:
        case "ping":
            return "ping"
        case "tcp":
            # iperf3 closes its connections when it has written all bytes, and the last ones do not arrive.
            is_plain = not item.get("mptcp") and not item.get("rate_bits_per_s")
            return None if item.get("bytes") and is_plain else "iperf3"
        case "udp" | "requests" | "replay" | "pcap":
            return None
        case _:
            assert_never(kind)


def commands(item: Mapping[str, Any]) -> list[str]:
    """The programs of this machine that a flow needs."""
    program = command(item)
    return [*(["mptcpize"] if item.get("mptcp") else []), *([program] if program else [])]


def realise(
    plan: Plan, traffic: Iterable[Mapping[str, Any]], *, duration_ns: int | None
) -> tuple[list[Program], list[dict[str, Any]]]:
    """Programs for ``traffic``, and rows that tell which log belongs to what.

    Each item of ``traffic`` has name, kind, source (node index), destinations (node indices) and
    the fields of its kind in ns, bit/s and bytes. Raises ValueError for traffic without a :func:`command`.
    """
    programs: list[Program] = []
    rows: list[dict[str, Any]] = []
    ports = iter(range(FIRST_PORT, 65_536))
    identifiers = iter(range(FIRST_IDENTIFIER, 65_536))
    for item in traffic:
        for destination in item["destinations"]:
            match command(item):
                case "ping":
                    made, row = _ping(plan, item, destination, next(identifiers), duration_ns)
                case "iperf3":
                    made, row = _iperf(plan, item, destination, next(ports), duration_ns)
                case None:
                    raise ValueError(f"no program sends {item['kind']}")
            programs += made
            rows.append(row)
    services = [each for each in programs if each["service"]]
    return services + [each for each in programs if not each["service"]], rows


def require(commands: Iterable[str]) -> None:
    """Refuse to begin without the programs that traffic needs."""
    missing = sorted({command for command in commands if find_program(command) is None})
    if missing:
        packages = " ".join({"ping": "iputils-ping"}.get(command, command) for command in missing)
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"traffic needs {', '.join(missing)}, not found on this machine",
            remedy=f"sudo apt-get install {packages}",
            exit_code=3,
        )


@cache
def takes_identifier() -> bool:
    """Whether this machine's ping lets one choose the ICMP identifier (iputils 20210202 and later)."""
    try:
        done = subprocess.run([installed("ping"), "-h"], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return "-e <identifier>" in done.stdout + done.stderr


def concerns(resolved: "Resolved", real: Iterable[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    """Warnings about flows that would keep the pacing of a control that is not theirs."""
    for item in real:
        if command(item) != "iperf3":
            continue
        own = resolved.plan["nodes"][item["source"]]["sysctls"].get(CC_SYSCTL)
        named = (item.get("cc") or {}).get("algorithm")
        if own in _PACED and named not in (None, *_PACED):
            yield resolved.scenario.warning(
                Code.ALGORITHM_CHANGED_LATE,
                ("traffic", item["name"], "cc"),
                f"iperf3 connects with the host's {own}, then changes to {named}; Linux continues to pace",
                f"name {named} for the host, too: tcp: {{congestion_control: {named}}}",
            )


def _names(plan: Plan, item: Mapping[str, Any], destination: int) -> tuple[str, str, str]:
    source = plan["nodes"][item["source"]]["name"]
    target = plan["nodes"][destination]["name"]
    return flow_name(item, source, target), source, target


def _ping(
    plan: Plan, item: Mapping[str, Any], destination: int, identifier: int, duration_ns: int | None
) -> tuple[list[Program], dict[str, Any]]:
    name, source, target = _names(plan, item, destination)
    interval_s = item["every_ns"] / _NS
    argv = [installed("ping"), "-n", "-D", "-i", f"{interval_s:g}", "-s", str(item.get("size_bytes") or 56)]
    if takes_identifier():
        argv += ["-e", str(identifier)]
    if item.get("count"):
        argv += ["-c", str(item["count"])]
    address = plan["nodes"][destination]
    argv.append(address["ipv4"] or address["ipv6"])
    stop_ns = item.get("stop_ns") or duration_ns
    programs = [program(name, item["source"], argv, start_ns=item.get("start_ns", 0), stop_ns=stop_ns)]
    row = _row(item, name, None, source, target)
    chosen = identifier if takes_identifier() else None
    return programs, {**row, "every_ns": item["every_ns"], "identifier": chosen}


def _iperf(
    plan: Plan, item: Mapping[str, Any], destination: int, port: int, duration_ns: int | None
) -> tuple[list[Program], dict[str, Any]]:
    name, source, target = _names(plan, item, destination)
    server = f"{name}.server"
    start_ns = item.get("start_ns", 0)
    stop_ns = item.get("stop_ns") or duration_ns
    address = plan["nodes"][destination]
    argv = [installed("iperf3"), "-c", address["ipv4"] or address["ipv6"], "-p", str(port), "-J"]
    if item.get("bytes"):
        argv += ["-n", str(item["bytes"])]
    elif stop_ns is not None:
        # iperf3 takes whole seconds. A client that ends by itself leaves its report, so none may be
        # cut off by the end of the run while it asks its server for the result.
        at_the_end = duration_ns is not None and duration_ns - stop_ns < _CLOSING_NS
        seconds = (stop_ns - start_ns - (_CLOSING_NS if at_the_end else 0)) // _NS
        argv += ["-t", str(max(seconds, 1))]
    else:
        argv += ["-t", "10"]
    argv += ["-P", str(item.get("flows") or 1)]
    if item.get("cc"):
        argv += ["-C", item.get("kernel_algorithm") or item["cc"]["algorithm"]]
    if item.get("rate_bits_per_s"):
        argv += ["-b", str(item["rate_bits_per_s"])]
    wrapper = [installed("mptcpize"), "run"] if item.get("mptcp") else []
    programs = [
        program(
            server,
            owner_of(plan["nodes"], destination),
            [*wrapper, installed("iperf3"), "-s", "-1", "-p", str(port), "-J"],
            service=True,
            ready={"tcp_port": port, "within_ns": _READY_NS},
            # It serves one client, and ends with it.
            expect_exit=0,
        ),
        program(name, item["source"], [*wrapper, *argv], start_ns=start_ns, stop_ns=None, expect_exit=0),
    ]
    return programs, _row(item, name, server, source, target)


def program(
    name: str,
    host: int,
    argv: Sequence[str],
    *,
    start_ns: int = 0,
    stop_ns: int | None = None,
    service: bool = False,
    ready: Ready | None = None,
    expect_exit: int | None = None,
) -> Program:
    """A program of the plan."""
    return {
        "name": name,
        "host": host,
        "argv": list(argv),
        "cwd": None,
        "env": {},
        "start_ns": start_ns,
        "stop_ns": stop_ns,
        "service": service,
        "ready": ready,
        "expect_exit": expect_exit,
    }


def _row(
    item: Mapping[str, Any], program: str, server: str | None, source: str, target: str
) -> dict[str, Any]:
    return {
        "name": item["name"],
        "probe": probe_name(item, source) if item["kind"] == "ping" else None,
        "kind": item["kind"],
        "program": program,
        "server": server,
        "from": source,
        "to": target,
        "cc": (item.get("cc") or {}).get("algorithm"),
        "rate_bits_per_s": item.get("rate_bits_per_s"),
        "every_ns": None,
        "start_ns": item.get("start_ns") or 0,
        "start": item.get("start"),
        "simulated": False,
        "volume_bytes": item.get("bytes"),
        "mptcp": item.get("mptcp", False),
    }


FIRST_RECEIVER_PORT = 6201
"""Of the receivers, counted up over all flows."""


def parts(nodes: Sequence[Node], flows: Sequence[Flow], rows: Sequence[Mapping[str, Any]]) -> list[Program]:
    """Receivers and senders of those of the plan's ``flows`` that are not simulated, and not of captures.

    Each of ``rows`` names the traffic generator of a flow. Flows of the same generator share it, and a port.
    """
    ports: dict[str, int] = {}
    made: dict[tuple[End, str], Program] = {}
    played: dict[tuple[End, str], list[int]] = {}
    for position, (flow, row) in enumerate(zip(flows, rows, strict=True)):
        if flow["simulated"] or flow["traffic"]["kind"] == "pcap":
            continue
        group = row["name"] if row["kind"] == "replay" else flow["name"]
        port = ports.setdefault(group, FIRST_RECEIVER_PORT + len(ports))
        ends: tuple[tuple[End, int, str], ...] = (
            ("sink", owner_of(nodes, flow["destination"]), row["server"]),
            ("source", flow["source"], row["generator"]),
        )
        for end, host, name in ends:
            played.setdefault((end, name), []).append(position)
            if (end, name) in made:
                continue
            part: Part = {"flows": played[end, name], "end": end, "port": port}
            if transport(row["kind"]) == "tcp":
                part = {**part, "congestion_control": row["kernel_algorithm"]}
            argv = [f"longhaul-{end}", group]
            stop_ns = row["stop_ns"] if row["kind"] == "tcp" and end == "source" else None
            made[end, name] = {
                **program(name, host, argv, stop_ns=stop_ns, service=end == "sink", expect_exit=0),
                "plays": part,
            }
    return [each for (end, _), each in made.items() if end == "sink"] + [
        each for (end, _), each in made.items() if end == "source"
    ]
