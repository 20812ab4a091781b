"""The chart of transfers: every deadline on its axis, heights as rates, refused requests seen."""

import pytest

from longhaul.report.chart import Chart, Panel
from longhaul.report.colours import BAD
from longhaul.report.gantt import MOST_ROWS, Bar, GanttRow, gantt_chart, time_axis

FAST, SLOW = Bar(0, 4, 1e9), Bar(4, 12, 25e7)


def chart_of(*rows: GanttRow) -> Chart:
    chart = gantt_chart("gantt", "who moves when", rows)
    assert chart is not None
    return chart


def panel_of(*rows: GanttRow) -> Panel:
    (panel,) = chart_of(*rows).panels
    return panel


def test_the_axis_has_all_that_moves_and_every_release_on_it():
    row = GanttRow("a", 1, 30, [Bar(1, 10, 1e9)])
    assert time_axis([row]).high == pytest.approx(31.5)
    assert time_axis([GanttRow("a", 1, None, [], [Bar(1, 90, 1e9)])]).high == pytest.approx(94.5)
    # Refused, without a deadline, and behind all others: its window still goes from left to right.
    late = GanttRow("b", 100, None, [], is_good=False, is_refused=True)
    assert time_axis([row, late]).high > 100
    assert time_axis([GanttRow("a", 0, None, [])]).high > 0


def test_without_requests_there_is_no_chart():
    assert gantt_chart("gantt", "nobody", []) is None


def test_every_deadline_is_on_the_axis_however_far_behind_the_last_byte():
    panel = panel_of(GanttRow("a", 0, 90, [FAST]), GanttRow("b", 3, None, [SLOW]))
    assert panel.x.high >= 90
    (strokes,) = [each for each in panel.series if each.kind == "strokes"]
    assert strokes.x.tolist() == [90]
    # Without a deadline a window goes on to the end.
    windows = panel.series[0]
    assert windows.to_x.tolist() == [90, panel.x.high]


def test_heights_are_as_the_rates_and_bars_stand_on_the_foot_of_their_row():
    panel = panel_of(GanttRow("a", 0, 60, [FAST, SLOW]))
    fast, slow = (next(each for each in panel.series if rate in each.name) for rate in ("1 Gbit", "250 Mbit"))
    assert slow.size == pytest.approx(fast.size / 4)
    feet = [each.y[0] + each.size / 2 for each in (fast, slow)]
    assert feet == pytest.approx([0.42, 0.42])
    assert (slow.x[0], slow.to_x[0]) == (4, 12)


def test_achieved_bars_are_below_planned_ones_and_red_if_late():
    row = GanttRow("a", 0, 10, [FAST], [Bar(0, 11, 9e8)], is_good=False)
    panel = panel_of(row)
    planned, achieved = (
        next(each for each in panel.series if each.name.startswith(kind)) for kind in ("planned", "achieved")
    )
    assert planned.y[0] + planned.size / 2 == pytest.approx(0)
    assert achieved.y[0] - achieved.size / 2 > 0
    assert achieved.colour == BAD
    assert BAD in [each.colour for each in chart_of(row).key]


def test_a_refused_request_has_its_window_in_red():
    panel = panel_of(GanttRow("a", 0, 60, [], is_good=False, is_refused=True))
    (window,) = [each for each in panel.series if each.kind == "bars"]
    assert (window.colour, window.x.tolist(), window.to_x.tolist()) == (BAD, [0], [60])


def test_what_is_left_out_is_said():
    rows = [GanttRow(f"r{number}", 0, 60, [FAST]) for number in range(MOST_ROWS + 5)]
    panel = panel_of(*rows)
    assert len(panel.y.names) == MOST_ROWS
    assert panel.note == f"The first {MOST_ROWS} of {MOST_ROWS + 5} requests"
