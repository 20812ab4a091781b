"""How large datagrams are where the scenario does not say, and what is said of those that do not pass."""

import pytest

from longhaul.scenario import Resolved, ScenarioError, parse_scenario, resolve

PATH = """\
version: 1
name: path
duration: 1s
addresses: {addresses}
nodes: {{r: {{kind: router}}, a: {{kind: host}}, b: {{kind: host}}, c: {{kind: host}}}}
links:
  ar: {{endpoints: [a, r], mtu: 9000}}
  rb: {{endpoints: [r, b], mtu: {mtu}, rate: 10Mbit}}
  rc: {{endpoints: [r, c], mtu: 9000}}
traffic: {{u: {{{flow}}}}}
"""


def resolved(flow: str, *, mtu: int, addresses: str = "ipv4") -> Resolved:
    return resolve(
        parse_scenario(PATH.format(flow=flow, mtu=mtu, addresses=addresses).encode(), name="path.yaml")
    )


@pytest.mark.parametrize(("mtu", "size"), [(9000, 1448), (1500, 1448), (1499, 1447), (1280, 1228)])
@pytest.mark.parametrize(
    "flow", ["kind: udp, from: a, to: [b, c], rate: 1Mbit", "kind: background, link: rb, load: 50%"]
)
def test_a_size_that_is_left_open_passes_every_link(flow: str, mtu: int, size: int) -> None:
    for addresses, headers in (("ipv4", 28), ("ipv6", 48)):
        found = resolved(flow, mtu=mtu, addresses=addresses)
        (planned,) = found.traffic
        assert planned["size_bytes"] == size <= mtu - headers
        assert found.warnings == ()


@pytest.mark.parametrize(("addresses", "most"), [("ipv4", 1252), ("ipv6", 1232)])
def test_datagrams_that_do_not_pass_are_told(addresses: str, most: int) -> None:
    udp = "kind: udp, from: a, to: b, rate: 1Mbit, size: {}B"
    assert resolved(udp.format(most), mtu=1280, addresses=addresses).warnings == ()
    (warning,) = [
        each.headline for each in resolved(udp.format(most + 1), mtu=1280, addresses=addresses).warnings
    ]
    assert f"traffic.u.size: datagrams of {most + 1} bytes are too large for MTU 1280" in warning
    assert warning.endswith(f"write {most}B or less [W0201]")
    load = "kind: background, link: rb, load: 50%, size: {}B"
    assert resolved(load.format(most), mtu=1280, addresses=addresses).warnings == ()
    with pytest.raises(ScenarioError, match=f'do not pass "rb", whose MTU is 1280; write {most}B or less'):
        resolved(load.format(most + 1), mtu=1280, addresses=addresses)


def test_drawn_sizes_are_cut_to_what_passes_and_need_no_warning() -> None:
    flow = "kind: udp, from: a, to: b, rate: 1Mbit, size: 1400B, sizes: exponential"
    assert resolved(flow, mtu=1280).warnings == ()
