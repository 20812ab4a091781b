"""What was measured beside what was configured, phase by phase."""

import pytest
from link_changes import MS, S, constant, plan_of

from longhaul.analysis.configuration import Applied, Configuration, planned
from longhaul.analysis.phases import arrows, phase_rows, series, whole_run
from longhaul.units.text import share_text, time_text


def counted(packets: int, delay_ms: float = 0, *, lost: int = 0, down: int = 0) -> dict:
    """Counters after so many packets, whose delays add up to ``delay_ms``."""
    return {
        "offered_packets": packets,
        "entered_packets": packets - lost - down,
        "wire_bytes": 1000 * (packets - lost - down),
        "lost_packets": lost,
        "overflowed_packets": 0,
        "dropped_packets": 0,
        "down_packets": down,
        "wire_delay_ns": delay_ms * MS,
    }


def final(packets: int, delay_ms: float, *, lost: int = 0, down: int = 0) -> dict:
    entered = packets - lost - down
    end = counted(packets, delay_ms, lost=lost, down=down)
    return {
        **end,
        "delivered_packets": entered,
        "flying_packets": 0,
        "wire_delay_mean_ns": delay_ms * MS / entered,
    }


def change(at_s: float, change: dict, before: dict) -> Applied:
    return Applied(
        round(at_s * S), 0, ("forward",), None, change, {"by": "cli", "user": "ann"}, {"forward": before}
    )


def test_each_phase_has_its_own_mean_and_none_is_measured_against_another() -> None:
    # 10 packets of 35 ms and 30 of 80 ms.
    slower = change(1, {"delay": constant(80)}, counted(10, 350))
    found = Configuration(plan_of("delay: 35ms"), [slower])
    rows = phase_rows(found, 0, "forward", final(40, 2750), 4 * S)
    assert [(row["from_ns"], row["to_ns"]) for row in rows] == [(0, S), (S, 4 * S)]
    assert [row["configured"]["delay_ns"] for row in rows] == [35 * MS, 80 * MS]
    assert [row["measured"]["delay_ns"] for row in rows] == pytest.approx([35 * MS, 80 * MS])
    assert whole_run(rows)["delay_mean_ns"] == pytest.approx(2750 / 40 * MS)
    shown = series(rows, "delay_ns", time_text, measured=2750 / 40 * MS)
    assert (shown.configured, shown.measured) == ("35 → 80 ms", "35 → 80 ms")


def test_without_a_change_the_series_is_one_number() -> None:
    rows = phase_rows(Configuration(plan_of("delay: 35ms")), 0, "forward", final(10, 351), S)
    shown = series(rows, "delay_ns", time_text, measured=35.1 * MS)
    assert (shown.configured, shown.measured) == ("35 ms", "35.1 ms")


def test_loss_while_down_is_no_loss_of_the_model() -> None:
    down = change(1, {"up": False}, counted(100, 3500, lost=2))
    up = change(2, {"up": True}, counted(150, 3500, lost=2, down=50))
    rows = phase_rows(
        Configuration(plan_of("delay: 35ms, loss: 2%"), [down, up]),
        0,
        "forward",
        final(250, 7000, lost=4, down=50),
        3 * S,
    )
    assert [row["configured"]["up"] for row in rows] == [True, False, True]
    assert [row["measured"]["loss"] for row in rows] == pytest.approx([0.02, None, 0.02])
    assert [row["measured"]["down_packets"] for row in rows] == [0, 50, 0]
    assert whole_run(rows)["loss_mean"] == pytest.approx(0.02)


def test_a_ramp_is_one_phase_whose_mean_is_that_of_its_packets() -> None:
    plan = plan_of("delay: 10ms", "{at: 1s, link: w, set: {delay: 40ms}, over: 30ms}")
    # Steps to 20, 30 and 40 ms at 1.01, 1.02 and 1.03 s; 4 packets of 10, 1 of 20, 3 of 30, 2 of 40 ms.
    befores = [counted(4, 40), counted(5, 60), counted(8, 150)]
    steps = [
        Applied(each.at_ns, 0, ("forward",), None, each.change, each.cause, {"forward": before})
        for each, before in zip(planned(plan), befores, strict=True)
    ]
    rows = phase_rows(Configuration(plan, steps), 0, "forward", final(10, 230), 2 * S)
    assert [row["gradual"] for row in rows] == [False, True, False]
    assert rows[1]["configured"]["delay_ns"] == rows[1]["measured"]["delay_ns"] == pytest.approx(27.5 * MS)
    assert series(rows, "delay_ns", time_text, measured=23 * MS).configured == "10 → 40 ms"
    assert whole_run(rows)["delay_mean_ns"] == pytest.approx(23 * MS)


def test_many_values_are_a_range_with_its_mean() -> None:
    changes = [
        change(n, {"delay": constant(10 * (n + 1))}, counted(n, sum(10 * m for m in range(1, n + 1))))
        for n in range(1, 6)
    ]
    rows = phase_rows(Configuration(plan_of("delay: 10ms"), changes), 0, "forward", final(6, 210), 6 * S)
    shown = series(rows, "delay_ns", time_text, measured=35 * MS)
    assert (shown.configured, shown.measured) == ("10-60 ms, mean 35 ms", "35 ms")


def test_what_did_not_change_is_one_number_though_something_else_did() -> None:
    rows = phase_rows(
        Configuration(
            plan_of("delay: 35ms, loss: 1%"), [change(1, {"delay": constant(80)}, counted(10, 350))]
        ),
        0,
        "forward",
        final(40, 2750),
        4 * S,
    )
    assert series(rows, "loss", share_text, measured=0.012).configured == "1 %"


def test_a_run_that_recorded_no_counters_still_has_its_configuration() -> None:
    plan = plan_of("delay: 35ms", "{at: 1s, link: w, set: {delay: 80ms}}", "{at: 9s, link: w, down: true}")
    rows = phase_rows(Configuration(plan, planned(plan)), 0, "forward", final(40, 2750), 4 * S)
    assert [row["measured"] for row in rows] == [None, None]
    shown = series(rows, "delay_ns", time_text, measured=69 * MS)
    assert shown.configured == "35-80 ms, mean 68.8 ms"


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("35 ms", "80 ms", "35 → 80 ms"),
        ("900 µs", "80 ms", "900 µs → 80 ms"),
        ("0", "1.75 %", "0 → 1.75 %"),
        (
            "normal (mean 38 ms, sd 120 µs)",
            "normal (mean 60 ms, sd 120 µs)",
            "normal (mean 38 ms, sd 120 µs) → normal (mean 60 ms, sd 120 µs)",
        ),
        ("10 ms", "normal (mean 60 ms, sd 2 ms)", "10 ms → normal (mean 60 ms, sd 2 ms)"),
    ],
)
def test_a_change_names_a_unit_once_only_if_both_are_single_quantities(
    before: str, after: str, shown: str
) -> None:
    assert arrows([before, after]) == shown
