"""Which metrics tell two groups apart."""

from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.analysis.comparison import compare, contrast

NUMBERS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=4)
GROUPS = st.dictionaries(st.sampled_from("abcdef"), st.tuples(NUMBERS, NUMBERS), min_size=1)


@given(GROUPS)
@settings(deadline=None)
def test_every_metric_is_in_one_list(drawn: dict[str, tuple[list[float], list[float]]]) -> None:
    rows = [
        row
        for name, (first, last) in drawn.items()
        for row in compare([[{name: each} for each in first], [{name: each} for each in last]])
    ]
    found = contrast(rows)
    assert sorted(row.metric for row in (*found.certain, *found.open, *found.same)) == sorted(drawn)
    assert found.count == len(drawn)
    assert all(row.differs for row in found.certain)
    assert all(row.differs is None and row.difference for row in found.open)
    assert not any(row.differs and row.difference for row in found.same)


def test_what_was_asked_for_comes_first_then_the_largest() -> None:
    base = [{"a": 100.0, "b": 100.0, "c": 0.0}, {"a": 101.0, "b": 101.0, "c": 0.0}]
    other = [{"a": 200.0, "b": 300.0, "c": 5.0}, {"a": 201.0, "b": 301.0, "c": 5.1}]
    assert [row.metric for row in contrast(compare([base, other])).certain] == ["c", "b", "a"]
    assert [row.metric for row in contrast(compare([base, other]), first=["a"]).certain] == ["a", "c", "b"]


def test_rounding_is_no_difference() -> None:
    base, other = [{"a": 1.0}, {"a": 1.0}], [{"a": 1.0 + 1e-9}, {"a": 1.0 + 1e-9}]
    (row,) = compare([base, other])
    assert row.differs
    assert contrast([row]).same == (row,)
