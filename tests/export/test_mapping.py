"""The mapping to machines as a table, and edits that keep the rest of its file."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.export.mapping import MachineEdit, Mapped, edit_machines, map_machines
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: pair
nodes: {a: {kind: host}, r: {kind: router}, b: {kind: host}}
links: {near: {endpoints: [a, r], delay: 1ms}, far: {endpoints: [r, b], delay: 20ms, rate: 10Mbit}}
"""
TEXT = """\
version: 1
machines: # of the lab
  a: {address: 192.0.2.1}
  r: {address: 192.0.2.2, interfaces: {near: eth1, far: eth2.7}}
  b: {address: 192.0.2.3, user: admin}
"""


def mapped(text: str) -> Mapped:
    return map_machines(text, resolve(parse_scenario(SCENARIO, name="pair")), kernel=Kernel())


def edited(text: str, edit: MachineEdit) -> str:
    return edit_machines(text, [edit], mapped(text))


def test_without_a_file_each_node_is_a_machine_with_default_devices() -> None:
    found = mapped("")
    assert [(row.name, row.address, row.devices) for row in found.rows] == [
        ("a", "", {"near": "eth1"}),
        ("r", "", {"near": "eth1", "far": "eth2"}),
        ("b", "", {"far": "eth1"}),
    ]
    assert (found.links, found.problems) == (("near", "far"), ())


def test_a_file_has_its_addresses_users_and_devices() -> None:
    found = mapped(TEXT)
    assert [(row.address, row.user, row.is_written) for row in found.rows] == [
        ("192.0.2.1", "", False),
        ("192.0.2.2", "", True),
        ("192.0.2.3", "admin", False),
    ]
    assert found.rows[1].devices == {"near": "eth1", "far": "eth2.7"}
    assert found.problems == ()


def test_an_edit_changes_its_value_alone() -> None:
    assert edited(TEXT, MachineEdit("set", "a", text="192.0.2.9")) == TEXT.replace("192.0.2.1}", "192.0.2.9}")
    device = MachineEdit("set", "r", "device", "near", "eno1")
    assert edited(TEXT, device) == TEXT.replace("near: eth1", "near: eno1")
    assert edited(TEXT, MachineEdit("set", "b", "user")) == TEXT.replace(", user: admin", "")
    assert edited(TEXT, MachineEdit("set", "a", "user")) == TEXT


def test_the_first_device_brings_the_defaults_of_the_others() -> None:
    text = edited("", MachineEdit("set", "r", "device", "far", "eth5"))
    assert mapped(text).rows[1].devices == {"near": "eth1", "far": "eth5"}


def test_a_link_can_have_a_machine_of_its_own() -> None:
    text = edited(TEXT, MachineEdit("add", "far", text="192.0.2.8"))
    found = mapped(text)
    assert (found.links, found.problems) == (("near",), ())
    assert (found.rows[3].name, found.rows[3].is_link) == ("far", True)
    assert found.rows[3].devices == {"r": "eth1", "b": "eth2"}
    assert edited(text, MachineEdit("remove", "far")) == TEXT


def test_problems_have_the_path_of_their_cell() -> None:
    wrong = TEXT.replace("192.0.2.3", "192.0.2").replace("eth2.7", "eth2.9999")
    found = {(each.path, each.span.line if each.span else None) for each in mapped(wrong).problems}
    assert found == {("machines.b.address", 5), ("machines.r.interfaces.far", 4)}
    twice = mapped(TEXT.replace("192.0.2.3", "192.0.2.1")).problems
    assert [each.path for each in twice] == ["machines.b.address"]
    assert [row.name for row in mapped("machines: [").rows] == ["a", "r", "b"]


@pytest.mark.parametrize(
    "edit",
    [
        MachineEdit("set", "absent", text="192.0.2.1"),
        MachineEdit("set", "a", "device", "absent", "eth1"),
        MachineEdit("add", "absent"),
        MachineEdit("remove", "absent"),
    ],
)
def test_an_impossible_edit_is_refused(edit: MachineEdit) -> None:
    with pytest.raises(LonghaulError, match="absent") as caught:
        edited(TEXT, edit)
    assert caught.value.remedy
