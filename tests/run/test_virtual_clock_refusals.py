"""What hosts on the virtual clock cannot be is refused before a kernel starts, each with a remedy."""

from longhaul.run.virtual_clock import refused
from longhaul.scenario import parse_scenario, resolve


def messages(text: str) -> list[tuple[str, str]]:
    scenario = parse_scenario(f"version: 1\nname: refused\n{text}".encode(), name="refused")
    return list(refused(resolve(scenario).plan))


def star(links: int) -> str:
    ends = "".join(f"  l{number}: {{endpoints: [a, b{number}]}}\n" for number in range(links))
    return f"nodes:\n  a: {{kind: host}}\n  b0..{links - 1}: {{kind: router}}\nlinks:\n{ends}"


def test_a_host_has_at_most_eleven_links() -> None:
    assert messages(star(11)) == []
    ((message, instead),) = messages(star(12))
    assert message == "a host on the virtual clock has at most 11 links, and a has 12"
    assert instead == ", or put a router between the host and its links"


def test_switches_and_hosts_that_forward_are_not_refused() -> None:
    rooms = (
        "nodes:\n  room: {kind: switch}\n  a: {kind: host, attach: room}\n"
        "  gate: {kind: host, forward: true, attach: room}\n  b: {kind: host, attach: gate}\n"
    )
    assert messages(rooms) == []


def test_limits_of_a_host_kept_files_and_ports_are_refused() -> None:
    ends = "  b: {kind: host, port: {tap: tap0, subnets: [192.0.2.0/24]}}\n  r: {kind: router}\n"
    links = "links: {a-r: {endpoints: [a, r]}, b-r: {endpoints: [b, r]}}\n"
    own = "nodes:\n  a: {kind: host, hostname: x, cpu: 1, memory: 64MB, rootfs: /, keep_files: true}\n"
    (settings, instead), (port, _) = messages(f"{own}{ends}{links}")
    assert settings == "a host on the virtual clock cannot have keep_files, cpu, memory, and a has"
    assert instead == ", or remove keep_files, cpu, memory"
    assert port == "a host on the virtual clock is a kernel of its own, and b has a port"
