"""What hosts on the virtual clock cannot be is refused before a kernel starts, each with a remedy."""

from longhaul.run.virtual_clock import refused
from longhaul.scenario import parse_scenario, resolve


def messages(text: str) -> list[str]:
    scenario = parse_scenario(f"version: 1\nname: refused\n{text}".encode(), name="refused")
    return [each.headline for each in refused(resolve(scenario), otherwise="run it live")]


def star(links: int) -> str:
    ends = "".join(f"  l{number}: {{endpoints: [a, b{number}]}}\n" for number in range(links))
    return f"nodes:\n  a: {{kind: host}}\n  b0..{links - 1}: {{kind: router}}\nlinks:\n{ends}"


def test_a_host_has_at_most_eleven_links() -> None:
    assert messages(star(11)) == []
    (message,) = messages(star(12))
    assert message == (
        "refused:4:3: nodes.a: a host on the virtual clock has at most 11 links, and a has 12; "
        "put a router between the host and its links, or run it live [E0609]"
    )


def test_switches_and_hosts_that_forward_are_not_refused() -> None:
    rooms = (
        "nodes:\n  room: {kind: switch}\n  a: {kind: host, attach: room}\n"
        "  gate: {kind: host, forward: true, attach: room}\n  b: {kind: host, attach: gate}\n"
    )
    assert messages(rooms) == []


def test_cpu_time_of_a_host_kept_files_and_ports_are_refused() -> None:
    ends = "  b: {kind: host, port: {tap: tap0, subnets: [192.0.2.0/24]}}\n  r: {kind: router}\n"
    links = "links: {a-r: {endpoints: [a, r]}, b-r: {endpoints: [b, r]}}\n"
    own = "nodes:\n  a: {kind: host, hostname: x, cpu: 1, memory: 64MB, rootfs: /, keep_files: true}\n"
    kept, cpu, port = messages(f"{own}{ends}{links}")
    words = "a host on the virtual clock cannot have"
    assert kept == (
        f"refused:4:77: nodes.a.keep_files: {words} keep_files; remove keep_files, or run it live [E0609]"
    )
    assert f"nodes.a.cpu: {words} cpu" in cpu
    assert "nodes.b.port: a host on the virtual clock is a kernel of its own, and has no port" in port
