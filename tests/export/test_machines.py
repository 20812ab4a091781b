"""The file of machines: what is wrong in it gets its place and a remedy."""

from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.export.files import export
from longhaul.export.machines import read_machines
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: two
duration: 1s
nodes: {a: {kind: host}, r: {kind: router}, b: {kind: host}}
links: {ar: {endpoints: [a, r], delay: 1ms}, rb: {endpoints: [r, b], delay: 1ms}}
"""
GOOD = """\
version: 1
machines:
  a: {address: 192.0.2.1, interfaces: {ar: eth1}}
  r: {address: 192.0.2.2, interfaces: {ar: eth1.11, rb: eth1.12}}
  b: {address: 192.0.2.3}
  rb: {address: 192.0.2.4, user: admin, interfaces: {r: eth2, b: eth3}}
"""


def files(text: str, folder: Path) -> dict[str, str]:
    path = folder / "m.yaml"
    path.write_text(text, encoding="utf-8")
    resolved = resolve(parse_scenario(SCENARIO, name="two.yaml"))
    return export(resolved, "tc", machines=read_machines(path), kernel=Kernel()).files


def test_models_go_to_the_machine_of_the_link_and_else_to_the_sender(tmp_path: Path) -> None:
    found = files(GOOD, tmp_path)
    netem = "root handle 1: netem limit 1667 delay 1ms"
    assert found["a.tc"] == f"# ar, forward: from a to r\ntc qdisc replace dev eth1 {netem}\n"
    assert found["r.tc"] == f"# ar, reverse: from r to a\ntc qdisc replace dev eth1.11 {netem}\n"
    assert "b.tc" not in found
    assert found["rb.tc"].splitlines() == [
        "# rb, reverse: from rb to r",
        f"tc qdisc replace dev eth2 {netem}",
        "# rb, forward: from rb to b",
        f"tc qdisc replace dev eth3 {netem}",
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  b: {", "  bb: {", 'machines.bb: there is no node or link "bb"; did you mean "b"?'),
        (
            "  b: {address: 192.0.2.3}\n",
            "",
            'machines: node "b" has no machine; add for example b: {address:',
        ),
        (
            "192.0.2.3",
            "192.0.2.1",
            'machines.b.address: "a" has this address, too; give each machine its own',
        ),
        ("192.0.2.3", "192.0.2", '"192.0.2" is not an address; write for example 192.0.2.11'),
        (
            "192.0.2.3",
            "10.1.0.2",
            "10.1.0.2 is an address of the emulated network; manage the machine by another",
        ),
        ("{ar: eth1}", "{aa: eth1}", 'there is no node or link "aa"; there are: ar'),
        ("rb: eth1.12", "rb: eth1.11", '"ar" uses eth1.11, too; write another, or VLANs: eth1.11'),
        (", rb: eth1.12", "", 'machines.r.interfaces: has no interface for "rb"; add for example rb: eth1'),
        ("eth1.12", "eth1.5000", "5000 is not a VLAN; write a number from 1 to 4094"),
        ("eth1.12", "a-device-with-a-long-name", "is not a name of a network device; write for example eth1"),
        ("version: 1", "version: 2", 'version: "2" is not known here'),
        ("user: admin", "users: admin", 'there is no key "users" here; did you mean "user"?'),
    ],
)
def test_a_wrong_file_of_machines_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in GOOD
    with pytest.raises(LonghaulError) as caught:
        files(GOOD.replace(old, new), tmp_path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/m.yaml:")
