"""Ranges of names, several in one name, and the keys that a range becomes without one of its names."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import longhaul
from longhaul.scenario.syntax.ranges import MOST, RangeError, expand, without


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("par", ["par"]),
        ("par1..3", ["par1", "par2", "par3"]),
        ("par08..10", ["par08", "par09", "par10"]),
        ("p1..2-h1..2", ["p1-h1", "p1-h2", "p2-h1", "p2-h2"]),
        ("r1..2-edge", ["r1-edge", "r2-edge"]),
        ("a1..1b01..02c3..4", ["a1b01c3", "a1b01c4", "a1b02c3", "a1b02c4"]),
    ],
)
def test_a_range_stands_for_its_names(text: str, names: list[str]) -> None:
    assert expand(text) == tuple(names)


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("par..4", '"par..4" is not a range', 'write for example "par1..4"'),
        ("p1..2-h..3", '"p1..2-h..3" is not a range', 'write for example "par1..4"'),
        ("p1..2-h4..1-x", '"p1..2-h4..1-x" counts down', 'write "p1..2-h1..4-x"'),
        ("h1..5000", '"h1..5000" has 5000 names', "a range has at most 4096"),
        ("p1..100-h1..100", '"p1..100-h1..100" has 10000 names', "a range has at most 4096"),
        ("a1..9999b1..9", '"a1..9999b1..9" has 9999 names or more', "a range has at most 4096"),
    ],
)
def test_what_is_no_range_says_what_to_write(text: str, message: str, remedy: str) -> None:
    with pytest.raises(RangeError) as caught:
        expand(text)
    assert (caught.value.message, caught.value.remedy) == (message, remedy)


ends = st.tuples(st.integers(0, 12), st.integers(0, 3)).map(lambda each: f"{each[0]}..{each[0] + each[1]}")


@given(st.lists(st.tuples(st.sampled_from(["a", "b-", "c0x"]), ends), min_size=1, max_size=3), st.data())
def test_the_keys_without_a_name_are_all_others_once(
    parts: list[tuple[str, str]], data: st.DataObject
) -> None:
    text = "".join(f"{prefix}{numbers}" for prefix, numbers in parts)
    names = expand(text)
    assert len(names) <= MOST
    alone = data.draw(st.sampled_from(names))
    keys = without(text, alone)
    assert alone in keys
    assert [name for key in keys for name in expand(key)] == list(names)


def test_a_range_of_a_made_topology_sends(tmp_path: Path) -> None:
    (tmp_path / "incast.yaml").write_text(
        "version: 1\nname: incast\nduration: 1s\ntopology: {kind: fat-tree}\n"
        "traffic:\n  in: {kind: tcp, from: p2..4-e1..2-h1..2, to: p1-e1-h1, bytes: 100kB, cc: reno}\n"
    )
    flows = longhaul.run_sim(tmp_path / "incast.yaml", runs=tmp_path / "runs").summary["flows"]
    assert {flow["from"] for flow in flows} == {
        f"p{pod}-e{edge}-h{host}" for pod in (2, 3, 4) for edge in (1, 2) for host in (1, 2)
    }
    assert all(flow["end_ns"] for flow in flows)
