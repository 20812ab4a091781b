"""Edits of a scenario's text: what they change, and what they leave alone."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from longhaul.scenario.edit.edits import Edit, Edited, EditError, edit
from longhaul.scenario.edit.templates import template, topology_template
from longhaul.scenario.syntax.yaml_tree import Branch, read_tree

from .edited_lines import own_lines, paths

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CLUSTERS = (SCENARIOS / "three-clusters.yaml").read_text()
EMPTY = "version: 1\nname: x\n"

TEXTS = [
    CLUSTERS,
    (SCENARIOS / "mixed.yaml").read_text(),
    template("pair", kind="pair"),
    topology_template("bell", kind="dumbbell", options={}),
    EMPTY,
    template("pair", kind="pair").replace("\n", "\r\n"),
    """\
version: 1   # one
name: "quoted"
nodes: {
  a: {kind: host},   # first

  b: {kind: host, at: [1.5,
    2]},
  # before the last
  c: {kind: router}
}
links:
    wan :
        endpoints:
        - a
        - b
        # the way there
        forward: {delay: '5ms'}    # quoted
        loss:
    # a comment of its own
    lan: {endpoints: [b, c], delay: 1ms,}
events:
- at: 1s
  link: wan
  set: {delay: 3ms}
-   {at: 2s, link: wan, down: 1s}
programs:
  talk:
    run: >-
      echo a
      b

    host: a
params: {}

# the end""",
    '{\n  "version": 1,\n  "name": "x",\n  "nodes": {"a":{"kind":"host"}},\n  "events": []\n}\n',
    "\ufeffversion: 1\nname: x\r\nlinks:\n  l: {endpoints: [[a],[b]], delay: {base, jitter: 5ms}}\nseed: 1\n",
]


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went, and lines that came."""
    old, new = before.splitlines(), after.splitlines()
    return [each for each in old if each not in new], [each for each in new if each not in old]


def test_a_value_that_is_set_changes_its_line_alone() -> None:
    after = edit(CLUSTERS, [Edit("set", ("links", "par-nyc", "loss"), "1%")])
    assert changed(CLUSTERS, after.text) == (["    loss: $loss"], ["    loss: 1%"])
    assert after.changed_lines == (35,)


def test_a_comment_behind_a_value_stays() -> None:
    after = edit(CLUSTERS, [Edit("set", ("profiles", "wan", "rate"), "2Gbit")])
    assert "rate: 2Gbit, queue: 1bdp, count: ethernet}     # preamble, header" in after.text


def test_quotes_stay() -> None:
    after = edit("version: 1\nname: 'old'  # n\n", [Edit("set", ("name",), "new")])
    assert after.text == "version: 1\nname: 'new'  # n\n"


def test_every_line_keeps_its_break() -> None:
    text = "version: 1\r\nname: x\nevents:\n- {at: 1s}\r\nnodes:\n  a1..2: {kind: host}\n"
    after = edit(
        text,
        [
            Edit("set", ("seed",), "1"),
            Edit("add", ("events",), {"at": "2s"}),
            Edit("add", ("nodes", "b"), {"kind": "host"}),
            Edit("split", ("nodes", "a1..2"), "a1"),
        ],
    )
    assert after.text == (
        'version: 1\r\nname: x\nseed: "1"\nevents:\n- {at: 1s}\r\n- {at: 2s}\r\n'
        "nodes:\n  a1: {kind: host}\n  a2: {kind: host}\n  b: {kind: host}\n"
    )


def test_a_byte_order_mark_stays() -> None:
    after = edit("\ufeffversion: 1\nname: x\n", [Edit("set", ("name",), "new")])
    assert after.text == "\ufeffversion: 1\nname: new\n"


def test_a_key_without_a_value_gets_one() -> None:
    text = "links:\n  l: {delay: {base, jitter: 5ms}}\n"
    after = edit(text, [Edit("set", ("links", "l", "delay", "base"), "10ms")])
    assert after.text == "links:\n  l: {delay: {base: 10ms, jitter: 5ms}}\n"
    assert edit(text, [Edit("remove", ("links", "l", "delay", "base"))]).text == (
        "links:\n  l: {delay: {jitter: 5ms}}\n"
    )


def test_an_item_is_appended_to_a_list_in_a_list() -> None:
    after = edit("bands: [[a], [b]]\n", [Edit("add", ("bands", 0, "-"), "c")])
    assert after.text == "bands: [[a, c], [b]]\n"


def test_a_section_in_brackets_is_written_on_its_line() -> None:
    text = '{"version": 1, "nodes": {}, "events": []}\n'
    after = edit(
        text, [Edit("add", ("nodes", "a"), {"kind": "host"}), Edit("add", ("events", "-"), {"at": "1s"})]
    )
    assert after.text == '{"version": 1, "nodes": {a: {kind: host}}, "events": [{at: 1s}]}\n'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("38ms", "38ms"),
        ("0.02", '"0.02"'),
        ("true", '"true"'),
        ("~", '"~"'),
        ("", '""'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("a\u2028b\x85c\ufeff", '"a\\u2028b\\u0085c\\ufeff"'),
        ("- a", '"- a"'),
        ("ping -c 3 par1", "ping -c 3 par1"),
        ("tcp:8080", "tcp:8080"),
        ("par1..4", "par1..4"),
        ("$cc", "$cc"),
        (0.0002, "0.0002"),
        (1e-9, "0.000000001"),
        ([48.85, 2.35], "[48.85, 2.35]"),
        ({"base": "38ms", "reorder": False}, "{base: 38ms, reorder: false}"),
        (None, "null"),
    ],
)
def test_a_value_is_written_as_one_would(value: Any, written: str) -> None:
    after = edit("version: 1\nname: x\n", [Edit("set", ("name",), value)])
    assert after.text == f"version: 1\nname: {written}\n"


def test_sections_come_in_the_order_of_the_language() -> None:
    after = edit(
        EMPTY,
        [
            Edit("add", ("traffic", "p"), {"kind": "ping", "from": "a", "to": "b"}),
            Edit("add", ("nodes", "a"), {"kind": "host"}),
            Edit("add", ("nodes", "b"), {"kind": "host"}),
            Edit("add", ("links", "wan"), {"endpoints": ["a", "b"]}),
            Edit("set", ("links", "wan", "forward", "delay"), "5ms"),
            Edit("add", ("events", "-"), {"at": "1s", "link": "wan", "down": "1s"}),
            Edit("add", ("events",), {"at": "3s", "link": "wan", "down": "1s"}),
            Edit("set", ("duration",), "10s"),
        ],
    )
    assert after.text == (
        "version: 1\nname: x\nduration: 10s\n"
        "nodes:\n  a: {kind: host}\n  b: {kind: host}\n"
        "links:\n  wan: {endpoints: [a, b], forward: {delay: 5ms}}\n"
        "traffic:\n  p: {kind: ping, from: a, to: b}\n"
        "events:\n  - {at: 1s, link: wan, down: 1s}\n  - {at: 3s, link: wan, down: 1s}\n"
    )


def test_what_is_removed_takes_its_lines_and_an_empty_section_goes() -> None:
    text = EMPTY + "nodes:\n  a: {kind: host}\n  b:\n    kind: host\n    at: [1, 2]\n# end\n"
    after = edit(text, [Edit("remove", ("nodes", "b"))])
    assert after.text == EMPTY + "nodes:\n  a: {kind: host}\n# end\n"
    assert edit(after.text, [Edit("remove", ("nodes", "a"))]).text == EMPTY + "# end\n"


def test_a_new_name_is_used_wherever_the_old_one_was() -> None:
    after = edit(CLUSTERS, [Edit("rename", ("nodes", "par"), "paris")])
    gone, came = changed(CLUSTERS, after.text)
    assert len(gone) == len(came) == 4  # the node, its hosts, and two links
    assert all(re.sub(r"\bparis\b", "par", new) == old for old, new in zip(gone, came, strict=True))


def test_a_parameters_new_name_is_used_with_its_sign() -> None:
    after = edit(CLUSTERS, [Edit("rename", ("params", "loss"), "wan_loss")])
    assert changed(CLUSTERS, after.text)[1] == ["params: {cc: cubic, wan_loss: 0.02%}", "    loss: $wan_loss"]


def test_a_member_of_a_range_is_edited_after_the_range_was_split() -> None:
    with pytest.raises(
        EditError, match=r'"par2" is one of par1\.\.3; edit par1\.\.3, or split it'
    ) as refused:
        edit(CLUSTERS, [Edit("set", ("nodes", "par2", "at"), [1, 2])])
    assert (refused.value.in_range, refused.value.line) == ("par1..3", 24)
    after = edit(
        CLUSTERS,
        [Edit("split", ("nodes", "par1..3"), "par1"), Edit("set", ("nodes", "par1", "at"), [1, 2])],
    )
    assert changed(CLUSTERS, after.text)[1] == [
        "  par1: {kind: host, attach: par, profile: lan, at: [1, 2]}",
        "  par2..3: {kind: host, attach: par, profile: lan}",
    ]


@pytest.mark.parametrize("attached", ["a", "b"])
def test_nodes_that_hang_on_each_other_go_together(attached: str) -> None:
    text = f"nodes:\n  a: {{attach: {attached}}}\n  b: {{attach: a}}\n  c: {{kind: host}}\n"
    assert edit(text, [Edit("remove", ("nodes", "a"), references=True)]).text == "nodes:\n  c: {kind: host}\n"


def test_a_node_goes_with_what_cannot_be_without_it() -> None:
    after = edit(CLUSTERS, [Edit("remove", ("nodes", "nyc"), references=True)])
    tree = read_tree("after", after.text.encode())[1]
    assert _keys(tree, "nodes") == ["par", "ams", "par1..3", "ams1..2"]
    assert _keys(tree, "links") == ["par-ams"]
    assert _keys(tree, "traffic") == ["probe", "backup"]  # the video came from New York
    assert _keys(tree, "programs") == ["fetch"]
    assert "to: [ams1]" in after.text
    assert "events" not in tree.entries


@pytest.mark.parametrize(
    ("op", "path", "value", "message"),
    [
        ("set", ("nodes", "par", "kind", "x"), "a", "nodes.par.kind is one value"),
        ("remove", ("links", "par-nyk"), None, 'there is no links.par-nyk; did you mean "par-nyc"?'),
        ("add", ("nodes", "par"), {}, "nodes.par already exists"),
        ("rename", ("nodes", "par"), "nyc2", 'there is a "nyc2" already'),
        ("split", ("nodes", "par1..3"), "par9", '"par9" is not in "par1..3"'),
        ("set", (), "a", "an edit needs a path"),
        ("set", ("events", 7, "at"), "1s", "events"),
    ],
)
def test_what_cannot_be_done_is_said(op: Any, path: Any, value: Any, message: str) -> None:
    with pytest.raises(EditError) as refused:
        edit(CLUSTERS, [Edit(op, path, value)])
    assert message in str(refused.value)


def test_a_text_that_cannot_be_read_is_not_edited() -> None:
    with pytest.raises(EditError, match="the text cannot be read: a tab cannot indent") as refused:
        edit("version: 1\nnodes:\n\ta: 1\n", [Edit("set", ("name",), "x")])
    assert refused.value.line == 3


def _keys(tree: Branch, section: str) -> list[str]:
    inner = tree.entries[section][1]
    assert isinstance(inner, Branch)
    return list(inner.entries)


PATHS = [[path for path in paths(read_tree("t", text.encode())[1]) if path] for text in TEXTS]
words = st.sampled_from(
    ["38ms", "1Gbit", "0.5%", "$cc", "a b", "x: y", "", "12", "'", '"', "é", "#", "par1..2"]
)
values = st.recursive(
    words
    | st.integers(0, 99)
    | st.floats(0, 1).map(lambda number: round(number, 6))
    | st.booleans()
    | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=4,
)


@st.composite
def edits(draw: st.DrawFn) -> tuple[int, Edit]:
    number = draw(st.integers(0, len(TEXTS) - 1))
    op = draw(st.sampled_from(["set", "set", "set", "add", "remove", "rename"]))
    path = draw(st.sampled_from(PATHS[number]))
    if op == "add":
        path = (*path, draw(st.sampled_from(["new", "newer", "-"])))
    value = draw(st.sampled_from(["fresh", "fresh-2"])) if op == "rename" else draw(values)
    return number, Edit(op, path, value)


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits())
@example((6, Edit("remove", ("nodes", "b", "at", 1), None)))
def test_a_random_edit_does_what_it_should_and_changes_only_itsown_lines(case: tuple[int, Edit]) -> None:
    text, each = TEXTS[case[0]], case[1]
    after, refusal = _tried(text, each)  # which reads the text again, and compares it with what is wanted
    if after is None:
        assert "cannot be edited in place" not in refusal
        assert "has no line of its own" not in refusal
        return
    own = own_lines(text, each)
    kept = [line for number, line in enumerate(text.splitlines(), 1) if number not in own]
    lines = iter(after.text.splitlines())
    assert each.op == "rename" or all(line in lines for line in kept), "a line of somebody else's changed"
    if each.op != "remove" and len(own) == 1:
        assert text.count("#") - str(each).count("#") <= after.text.count("#")
    if each.op == "set" and len(own) == 1 and len(each.path) > 1:
        assert len(after.changed_lines) <= 1


def _tried(text: str, each: Edit) -> tuple[Edited | None, str]:
    try:
        return edit(text, [each]), ""
    except EditError as error:
        return None, str(error)
