"""Small plans for measurements: two hosts, one link, given programs."""

from typing import Any

from longhaul.subprocesses import program as installed

Plan = dict[str, Any]

_BUFFER = 128 << 20


def pair(
    *,
    delay_ns: int = 0,
    bits_per_s: int | None = None,
    loss: float = 0.0,
    mtu: int = 1500,
    queue_bytes: int | None = None,
    coalesce_ns: int = 10_000,
    duration_ns: int | None = None,
    programs: list[dict[str, Any]] | None = None,
    name: str = "pair",
) -> Plan:
    """Hosts ``near`` (10.0.0.1, fd00::1) and ``far`` (10.0.0.2, fd00::2), one link ``wan``.

    ``delay_ns`` is one way; the loss model drops packets in the forward direction only. The
    default queue holds one BDP, at least 10 ms of the rate.
    """
    if bits_per_s and queue_bytes is None:
        queue_bytes = bits_per_s * max(2 * delay_ns, 10_000_000) // 8_000_000_000
    return {
        "version": 1,
        "name": name,
        "seed": 1,
        "duration_ns": duration_ns,
        "coalesce_ns": coalesce_ns,
        "nodes": [_host("near", 1, mtu), _host("far", 2, mtu)],
        "links": [
            {
                "name": "wan",
                "endpoints": [0, 1],
                "mtu": mtu,
                "forward": direction(delay_ns, bits_per_s, queue_bytes, loss),
                "reverse": direction(delay_ns, bits_per_s, queue_bytes, 0.0),
            }
        ],
        "routes": [],
        "programs": programs or [],
        "events": [],
        "measure": {
            "every_ns": 100_000_000,
            "captures": [],
            "snaplen": 96,
            "packet_links": [],
            "packet_window_ns": 0,
            "journal": False,
        },
    }


def chain(routers: int, *, delay_ns: int = 1_000_000, mtus: list[int] | None = None, mtu: int = 1500) -> Plan:
    """Near - r1 - r2 - ... - far, every link with the same delay; ``mtus`` gives each link its own MTU."""
    plan = pair(mtu=mtu, name="chain")
    plan["nodes"] += [
        {
            "name": f"r{number}",
            "kind": "router",
            "ipv4": f"10.0.1.{number}",
            "ipv6": f"fd00::1:{number}",
            "mtu": 0,
            "sysctls": {},
        }
        for number in range(1, routers + 1)
    ]
    stations = [0, *range(2, routers + 2), 1]
    names = [plan["nodes"][station]["name"] for station in stations]
    plan["links"] = [
        {
            "name": f"{names[position]}-{names[position + 1]}",
            "endpoints": stations[position : position + 2],
            "mtu": mtus[position] if mtus else mtu,
            "forward": direction(delay_ns, None, None, 0.0),
            "reverse": direction(delay_ns, None, None, 0.0),
        }
        for position in range(len(stations) - 1)
    ]
    return plan


def crowd(hosts: int) -> Plan:
    """``hosts`` hosts about a router, and one program that ends at once."""
    plan = chain(1, delay_ns=10_000)
    near, _far, router = plan["nodes"]
    link = plan["links"][0]
    plan["nodes"] = [
        router,
        *(
            {
                **near,
                "name": f"h{number}",
                "ipv4": f"10.1.{number >> 8}.{number & 255}",
                "ipv6": f"fd00::2:{number:x}",
            }
            for number in range(1, hosts + 1)
        ),
    ]
    plan["links"] = [
        {**link, "name": f"link{number}", "endpoints": [number, 0]} for number in range(1, hosts + 1)
    ]
    plan["programs"] = [program("true", 1, ["true"])]
    return plan


def direction(delay_ns: int, bits_per_s: int | None, queue_bytes: int | None, loss: float) -> dict[str, Any]:
    """One direction with constant delay and rate and independent loss."""
    return {
        "up": True,
        "loss": {"model": "independent", "probability": loss} if loss else {"model": "none"},
        "queue": {"limit_packets": None, "limit_bytes": queue_bytes},
        "rate": {"model": "constant", "bits_per_s": bits_per_s} if bits_per_s else {"model": "unlimited"},
        "delay": {"model": "constant", "delay_ns": delay_ns},
        "reorder": False,
        "reordering": None,
        "duplicate": 0.0,
    }


def program(
    name: str,
    host: int,
    argv: list[str],
    *,
    start_ns: int = 0,
    stop_ns: int | None = None,
    service_port: int | None = None,
    expect_exit: int | None = 0,
) -> dict[str, Any]:
    """A program; with ``service_port`` a service that is ready when it listens there."""
    service = service_port is not None
    return {
        "name": name,
        "host": host,
        "argv": argv,
        "cwd": None,
        "env": {},
        "start_ns": start_ns,
        "stop_ns": stop_ns,
        "service": service,
        "ready": {"tcp_port": service_port, "within_ns": 10_000_000_000} if service else None,
        "expect_exit": None if service else expect_exit,
    }


def ping(*, count: int, interval_s: float, size: int = 56) -> dict[str, Any]:
    """Near pings far."""
    argv = [
        installed("ping", package="iputils-ping"),
        "-n",
        "-c",
        str(count),
        "-i",
        f"{interval_s:g}",
        "-s",
        str(size),
        "10.0.0.2",
    ]
    return program("ping", 0, argv)


def tcp(*, seconds: int, congestion_control: str = "cubic", streams: int = 1) -> list[dict[str, Any]]:
    """An iperf3 server on far and its client on near."""
    argv = [
        installed("iperf3"),
        "-c",
        "10.0.0.2",
        "-t",
        str(seconds),
        "-C",
        congestion_control,
        "-P",
        str(streams),
        "-J",
    ]
    return [
        program("server", 1, [installed("iperf3"), "-s", "-1"], service_port=5201),
        program("client", 0, argv),
    ]


def udp(*, seconds: int, bits_per_s: int, size: int = 1400) -> list[dict[str, Any]]:
    """The same with UDP datagrams of ``size`` bytes at a rate."""
    argv = [installed("iperf3"), "-c", "10.0.0.2", "-u", "-t", str(seconds), "-b", str(bits_per_s)]
    argv += ["-l", str(size), "-w", "4M", "-J"]
    return [
        program("server", 1, [installed("iperf3"), "-s", "-1", "-J"], service_port=5201),
        program("client", 0, argv),
    ]


def _host(name: str, number: int, mtu: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "host",
        "ipv4": f"10.0.0.{number}",
        "ipv6": f"fd00::{number}",
        "mtu": mtu,
        "sysctls": {
            "net.ipv4.tcp_rmem": f"4096 131072 {_BUFFER}",
            "net.ipv4.tcp_wmem": f"4096 65536 {_BUFFER}",
        },
    }
