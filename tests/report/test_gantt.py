"""The chart of transfers: every deadline on its axis, heights as rates, refused requests seen."""

import pytest

from longhaul.report.colours import BAD
from longhaul.report.gantt import MOST_ROWS, Bar, GanttRow, gantt_key, gantt_panel

FAST, SLOW = Bar(0, 4, 1e9), Bar(4, 12, 25e7)


def test_every_deadline_is_on_the_axis_however_far_behind_the_last_byte():
    panel = gantt_panel([GanttRow("a", 0, 90, [FAST]), GanttRow("b", 3, None, [SLOW])])
    assert panel.x.high >= 90
    (strokes,) = [each for each in panel.series if each.kind == "strokes"]
    assert strokes.x.tolist() == [90]
    # Without a deadline a window goes on to the end.
    windows = panel.series[0]
    assert windows.to_x.tolist() == [90, panel.x.high]


def test_heights_are_as_the_rates_and_bars_stand_on_the_foot_of_their_row():
    panel = gantt_panel([GanttRow("a", 0, 60, [FAST, SLOW])])
    fast, slow = (next(each for each in panel.series if rate in each.name) for rate in ("1 Gbit", "250 Mbit"))
    assert slow.size == pytest.approx(fast.size / 4)
    feet = [each.y[0] + each.size / 2 for each in (fast, slow)]
    assert feet == pytest.approx([0.42, 0.42])
    assert (slow.x[0], slow.to_x[0]) == (4, 12)


def test_achieved_bars_are_below_planned_ones_and_red_if_late():
    row = GanttRow("a", 0, 10, [FAST], [Bar(0, 11, 9e8)], is_good=False)
    panel = gantt_panel([row])
    planned, achieved = (
        next(each for each in panel.series if each.name.startswith(kind)) for kind in ("planned", "achieved")
    )
    assert planned.y[0] + planned.size / 2 == pytest.approx(0)
    assert achieved.y[0] - achieved.size / 2 > 0
    assert achieved.colour == BAD
    assert BAD in [each.colour for each in gantt_key([row])]


def test_a_refused_request_has_its_window_in_red():
    panel = gantt_panel([GanttRow("a", 0, 60, [], is_good=False, is_refused=True)])
    (window,) = [each for each in panel.series if each.kind == "bars"]
    assert (window.colour, window.x.tolist(), window.to_x.tolist()) == (BAD, [0], [60])


def test_what_is_left_out_is_said():
    rows = [GanttRow(f"r{number}", 0, 60, [FAST]) for number in range(MOST_ROWS + 5)]
    panel = gantt_panel(rows)
    assert len(panel.y.names) == MOST_ROWS
    assert panel.note == f"The first {MOST_ROWS} of {MOST_ROWS + 5} requests"
