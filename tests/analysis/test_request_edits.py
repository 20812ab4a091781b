"""Requests of transfers as a table, and edits that keep the rest of the file."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.transfers.plan.instances import Point, Request, access_points, instance
from longhaul.transfers.plan.plans import Piece
from longhaul.transfers.plan.progress import Transfer, remaining_s
from longhaul.transfers.plan.request_edits import RequestEdit, edit_requests, request_table

YAML = """\
# Nightly.
version: 1
points: {lyon: 1Gbit, orsay: 1Gbit}
requests:
  raw: {from: lyon, to: orsay, volume: 500MB, deadline: 60s} # first
  copy:
    from: lyon
    to: orsay
    volume: 1GB
"""
CSV = "from,to,volume,deadline\nlyon,orsay,500MB,60s\n\nlyon,orsay,1GB,\n"


def edited(text: str, *edits: RequestEdit, name: str = "requests.yaml") -> str:
    return edit_requests(text, edits, name=name)


def test_a_yaml_edit_changes_its_value_alone() -> None:
    assert edited(YAML, RequestEdit("set", "raw", "volume", "2TB")) == YAML.replace("500MB", "2TB")
    assert edited(YAML, RequestEdit("set", "copy", "to", "lyon")) == YAML.replace(
        "    to: orsay", "    to: lyon"
    )
    assert edited(YAML, RequestEdit("set", "raw", "name", "first")) == YAML.replace("raw:", "first:")
    assert edited(YAML, RequestEdit("set", "raw", "name", "raw")) == YAML


def test_a_number_that_lacks_its_unit_leaves_no_quotes_behind() -> None:
    without = edited(YAML, RequestEdit("set", "raw", "volume", "500"))
    assert without == YAML.replace("500MB", "500")
    assert edited(without, RequestEdit("set", "raw", "volume", "500MB")) == YAML


def test_a_value_that_is_optional_is_removed_by_an_empty_cell() -> None:
    assert ", deadline: 60s" not in edited(YAML, RequestEdit("set", "raw", "deadline", ""))
    assert edited(YAML, RequestEdit("set", "copy", "deadline", " ")) == YAML
    added = edited(YAML, RequestEdit("set", "copy", "max_rate", "10Mbit"))
    assert request_table(added.encode(), name="requests.yaml").rows[1].cells["max_rate"] == "10Mbit"


@pytest.mark.parametrize(("text", "name"), [(YAML, "requests.yaml"), (CSV, "requests.csv")])
def test_requests_are_added_and_removed(text: str, name: str) -> None:
    cells = (("from", "lyon"), ("to", "orsay"), ("volume", "1GB"), ("release", "5s"))
    more = edited(text, RequestEdit("add", "new", cells=cells), name=name)
    found = request_table(more.encode(), name=name)
    assert (len(found.rows), found.problems) == (3, ())
    assert (found.rows[2].name, found.rows[2].cells["release"]) == ("new", "5s")
    less = edited(more, RequestEdit("remove", found.rows[0].name), name=name)
    assert [each.name for each in request_table(less.encode(), name=name).rows] == [
        each.name for each in found.rows[1:]
    ]
    with pytest.raises(LonghaulError, match="already"):
        edited(more, RequestEdit("add", "new", cells=cells), name=name)


def test_a_csv_edit_changes_its_line_and_adds_a_column_that_is_missing() -> None:
    table = request_table(CSV.encode(), name="requests.csv")
    assert [(each.name, each.line) for each in table.rows] == [("r1", 2), ("r2", 4)]
    changed = edited(CSV, RequestEdit("set", "r2", "deadline", "90s"), name="requests.csv")
    found = request_table(changed.encode(), name="requests.csv")
    assert [each.cells["deadline"] for each in found.rows] == ["60s", "90s"]
    # A request keeps the name that it had by its position.
    renamed = edited(CSV, RequestEdit("set", "r2", "name", "second"), name="requests.csv")
    assert renamed.splitlines()[0] == "from,to,volume,deadline,name"
    assert [each.name for each in request_table(renamed.encode(), name="requests.csv").rows] == [
        "r1",
        "second",
    ]
    assert edited("", RequestEdit("add", "a", cells=(("from", "x, y"),)), name="requests.csv").endswith(
        'a,"x, y",,,,,\n'
    )


def test_problems_have_the_path_of_their_cell() -> None:
    text = YAML.replace("500MB", "500").replace("    to: orsay\n", "")
    table = request_table(text.encode(), name="requests.yaml")
    assert {(each.path, each.span.line if each.span else None) for each in table.problems} == {
        ("requests.raw.volume", 5),
        ("requests.copy", 6),
    }
    assert [each.cells["volume"] for each in table.rows] == ["500", "1GB"]
    unread = request_table(b"requests: [", name="requests.yaml")
    assert (unread.rows, len(unread.problems)) == ((), 1)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (RequestEdit("set", "raw", "size", "1GB"), 'no column "size"'),
        (RequestEdit("set", "raw", "volume", " "), "volume is empty"),
        (RequestEdit("set", "absent", "name", "x"), "absent"),
        (RequestEdit("remove", "absent"), "absent"),
    ],
)
def test_an_impossible_edit_is_refused(edit: RequestEdit, message: str) -> None:
    for text, name in ((YAML, "requests.yaml"), (CSV, "requests.csv")):
        with pytest.raises(LonghaulError, match=message) as caught:
            edited(text, edit, name=name)
        assert caught.value.remedy


def test_the_remaining_time_is_that_of_the_last_planned_end() -> None:
    point = Point(8e6, 8e6)
    requests = [
        Request(
            name=name,
            source="a",
            destination="b",
            volume_bytes=1_000_000,
            release_s=release_s,
            deadline_s=100.0,
            max_bits_per_s=8e6,
        )
        for name, release_s in (("x", 0.0), ("y", 0.0), ("z", 5.0))
    ]
    case = instance(requests, network=access_points({"a": point, "b": point}))
    done, planned, unknown = (Transfer(each) for each in requests)
    done.state, planned.state = "done", "moving"
    planned.future = (Piece(1.0, 4.0, 8e6),)
    # The unknown one is released at 5 s, and takes 1 s at its greatest rate.
    assert remaining_s(case, [done, planned, unknown], 2.0) == pytest.approx(4.0)
    unknown.state = "refused"
    assert remaining_s(case, [done, planned, unknown], 2.0) == pytest.approx(2.0)
    assert remaining_s(case, [done, planned, unknown], 9.0) == 0.0
