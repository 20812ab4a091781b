"""Networks behind an interface, from what the kernel says of addresses and routes."""

from ipaddress import ip_address
from pathlib import Path

import pytest

from longhaul.run import learnt_networks
from longhaul.run.learnt_networks import with_learnt_networks
from longhaul.scenario import ScenarioError, parse_scenario, resolve

ROUTES4 = """\
Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
lo\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
lo\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
lo\t00004D0A\t0C01A8C0\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0
eth7\t0000580A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
"""
"""/proc/net/route: default, 192.168.1.0/24, 10.77.0.0/16 via 192.168.1.12; and one of another interface."""


def routes6(*rows: tuple[str, int, str]) -> str:
    """/proc/net/ipv6_route of networks, their bits, and next hops."""
    packed = [(ip_address(to).packed.hex(), bits, ip_address(via).packed.hex()) for to, bits, via in rows]
    none = f"{'0' * 32} 00"
    return "".join(
        f"{to} {bits:02x} {none} {via} 00000100 00000001 00000000 00000001       lo\n"
        for to, bits, via in packed
    )


ROUTES6 = routes6(
    ("::", 0, "fd00:1::12"),
    ("fd00:1::", 64, "::"),
    ("fd00:1::1", 128, "::"),
    ("fd00:7::", 48, "fd00:1::12"),
    ("fd00:8::", 48, "fe80::12"),
    ("fe80::", 64, "::"),
    ("ff00::", 8, "::"),
)
SCENARIO = """\
version: 1
name: learnt
addresses: FAMILIES
nodes:
  r: {kind: router}
  a: {kind: host, attach: r}
  west: {kind: host, attach: r, port: nic:lo}
"""


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has 192.168.1.1 and fd00:1::1 at an interface."""
    addresses = f"{ip_address('fe80::1').packed.hex()} 01 40 20 80 lo\n"
    addresses += f"{ip_address('fd00:1::1').packed.hex()} 01 40 00 80 lo\n"
    for name, text in (("_ROUTES4", ROUTES4), ("_ROUTES6", ROUTES6), ("_ADDRESSES6", addresses)):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(learnt_networks, name, tmp_path / name)
    monkeypatch.setattr(learnt_networks, "_address4", lambda _: ip_address("192.168.1.1"))


def planned(families: str) -> tuple[list[str | None], list[str]]:
    """The addresses of the port, and the networks behind it."""
    text = SCENARIO.replace("FAMILIES", families)
    resolved = resolve(parse_scenario(text.encode(), name="learnt.yaml"))
    found = with_learnt_networks(resolved)
    (west,) = [node for node in found.plan["nodes"] if node["name"] == "west"]
    port = west["port"]
    assert port is not None
    assert port["kind"] == "routed"
    via = [f" via {each['via']}" if each["via"] else "" for each in port["subnets"]]
    return [west["ipv4"], west["ipv6"]], [
        f"{each['address']}/{each['bits']}{by}" for each, by in zip(port["subnets"], via, strict=True)
    ]


def test_networks_are_those_of_routes_that_are_neither_default_nor_by_link_local_addresses() -> None:
    networks4 = ["192.168.1.0/24", "10.77.0.0/16 via 192.168.1.12"]
    networks6 = ["fd00:1::/64", "fd00:7::/48 via fd00:1::12"]
    assert planned("dual") == (["192.168.1.1", "fd00:1::1"], networks4 + networks6)
    assert planned("ipv4") == (["192.168.1.1", None], networks4)
    assert planned("ipv6") == ([None, "fd00:1::1"], networks6)


def test_a_machine_that_knows_no_networks_is_named() -> None:
    resolved = resolve(parse_scenario(SCENARIO.replace("FAMILIES", "ipv4").encode(), name="learnt.yaml"))
    nothing = learnt_networks.Known((), ())
    with pytest.raises(ScenarioError, match="lo has no address on machine m2 from which"):
        learnt_networks.with_networks(resolved, {"west": nothing}, machines={"west": "m2"})
