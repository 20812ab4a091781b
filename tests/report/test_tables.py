"""Tables of large runs: the busiest rows first, every row or its number somewhere, names as text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import longhaul.report
from longhaul.report import run_tables
from longhaul.report.tables import (
    MOST_FOLDED,
    MOST_IN_SIGHT,
    MOST_WHOLE,
    Cell,
    Row,
    Table,
    folded,
    numbers,
    words,
)

COLUMNS = [*words("name"), *numbers("packets")]


def made(counts: list[int]) -> Any:
    items = [{"name": f"l{number}", "packets": count} for number, count in enumerate(counts)]

    def row(item: Mapping[str, Any]) -> list[Row]:
        return [Row([item["name"], str(item["packets"])])]

    return folded(
        Table(COLUMNS, []), items, row, key=lambda item: item["packets"], names=("directions", "packets")
    )


def counts_of(table: Table | None) -> list[int]:
    return [int(str(row.cells[1])) for row in table.rows] if table else []


@given(st.lists(st.integers(0, 50), max_size=600))
def test_every_row_is_listed_or_counted(counts: list[int]) -> None:
    found = made(counts)
    first, rest = counts_of(found.first), counts_of(found.rest)
    if len(counts) <= MOST_WHOLE:
        assert (first, rest, found.note) == (counts, [], "")
        return
    busy = sorted((each for each in counts if each), reverse=True)
    assert first == busy[:MOST_IN_SIGHT]
    assert rest == busy[MOST_IN_SIGHT : MOST_IN_SIGHT + MOST_FOLDED]
    idle, more = (
        re.search(pattern, found.note) for pattern in (r"(\d+) directions without", r"(\d+) more directions")
    )
    unlisted = sum(int(each[1]) for each in (idle, more) if each)
    assert len(first) + len(rest) + unlisted == len(counts)


def test_names_are_text_and_not_elements() -> None:
    table = Table(COLUMNS, [Row(["<b>&", Cell("1", "bad")], {"data-link": 'a"b'})], name="t", look="wide")
    html = table.__html__()
    assert "<td>&lt;b&gt;&amp;</td>" in html
    assert '<td class="n bad">1</td>' in html
    assert 'data-link="a&quot;b"' in html
    assert '<table id="t" class="wide">' in html


def test_interfaces_of_the_machine_have_a_row_each_with_their_read_delay_and_drops() -> None:
    delay = {"count": 3, "p50_ns": 20_000, "p99_ns": 60_000, "max_ns": 70_000}
    port = {"receive_dropped_packets": 5, "unresolved_packets": 6, "looped_frames": 0}
    fidelity = {"engine": {"ports": {"west": port, "c": {}}}}
    found = run_tables.interfaces({"read_delay": {"west": delay}}, fidelity)
    assert found is not None
    (row,) = found.first.rows
    assert row.cells == ["west", "3", "20 µs", "60 µs", "70 µs", "5", "6", "0"]
    assert run_tables.interfaces({"read_delay": {}}, {"engine": {"ports": {"c": {}}}}) is None
    assert run_tables.interfaces({}, {}) is None


def test_every_column_of_a_report_has_words_above_it() -> None:
    report = Path(longhaul.report.__file__).parent
    templates = [*report.glob("*.j2")]
    assert len(templates) > 4
    assert {each.name for each in templates if re.search(r"<th[^>]*>\s*</th>", each.read_text())} == set()
    foot = Row(["all", "", "7"])
    written = Table([*words("name", "kind"), *numbers("count")], [], foot=foot).__html__()
    assert "<tfoot><tr><th>all</th><td></td>" in written
    assert "<th></th>" not in run_tables.expectations([]).__html__()
