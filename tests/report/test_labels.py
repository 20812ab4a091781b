"""Words of a drawing cover neither each other nor their line."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longhaul.report.labels import Box, Line, beside

place = st.tuples(st.integers(0, 800), st.integers(0, 400)).map(lambda at: np.array(at, dtype=float))
line = st.tuples(place, place).filter(lambda ends: float(np.hypot(*(ends[1] - ends[0]))) > 1)


@given(st.lists(line, min_size=1, max_size=12), st.integers(10, 160))
def test_words_cover_no_others_and_not_their_line(lines: list[Line], wide: int) -> None:
    taken: list[Box] = []
    for each in lines:
        box = beside(each, (wide, 28), taken=taken, lines=lines)
        if box is None:
            continue
        assert not box.meets(each)
        assert not any(box.covers(other) for other in taken)
        taken.append(box)


def test_words_stand_above_a_single_level_line() -> None:
    level = (np.array([0.0, 100.0]), np.array([200.0, 100.0]))
    box = beside(level, (80, 28), taken=[], lines=[level])
    assert box == Box(100, 100 - 14 - 6, 80, 28)


def test_where_everything_is_taken_there_are_no_words() -> None:
    level = (np.array([0.0, 100.0]), np.array([200.0, 100.0]))
    assert beside(level, (80, 28), taken=[Box(100, 100, 1000, 1000)], lines=[level]) is None


def test_a_line_through_a_corner_alone_is_met() -> None:
    box = Box(0, 0, 10, 10)
    assert box.meets((np.array([-10.0, 4.0]), np.array([4.0, -10.0])))
    assert not box.meets((np.array([-10.0, 0.5]), np.array([-6.0, 0.5])))
    assert not box.meets((np.array([6.0, -10.0]), np.array([6.0, 10.0])))
