"""Models that are read from files beside the scenario."""

from pathlib import Path

import pytest

from longhaul.scenario import ScenarioError

from .links import forward, plan_of

MS = 10**6


def loss(folder: Path, content: str, more: str) -> dict:
    (folder / "l.txt").write_text(content, encoding="utf-8")
    return forward(f"loss: {{model: trace, file: l.txt, {more}}}", folder=folder)["loss"]


def delay(folder: Path, content: str, more: str = "") -> dict:
    (folder / "d.csv").write_text(content, encoding="utf-8")
    return forward(f"delay: {{trace: d.csv{more}}}", folder=folder)["delay"]


def message(folder: Path, models: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        forward(models, folder=folder)
    return str(caught.value)


def test_numbers_of_lost_packets_are_runs(tmp_path: Path) -> None:
    # 2 pass, 3, 4 and 5 are lost; 6 passes, 7 is lost.
    planned = loss(tmp_path, "# lost\n3\n4\n5\n7\n", "form: indices")
    assert planned == {"model": "runs", "runs": [[2, 3], [1, 1]], "repeat": False}


def test_a_loss_of_the_very_first_packet(tmp_path: Path) -> None:
    assert loss(tmp_path, "1\n2\n4\n", "form: indices")["runs"] == [[0, 2], [1, 1]]


def test_gaps_and_pairs_are_runs(tmp_path: Path) -> None:
    gaps = loss(tmp_path, "n,gap\n1,10\n2,0\n3,5\n", "form: gaps, column: gap, at_end: loop")
    assert gaps == {"model": "runs", "runs": [[10, 2], [5, 1]], "repeat": True}
    assert loss(tmp_path, "120 3\n40, 1\n", "form: ns2")["runs"] == [[120, 3], [40, 1]]


def test_times_of_losses_are_in_seconds_unless_the_column_says_otherwise(tmp_path: Path) -> None:
    assert loss(tmp_path, "0.5\n1.25\n", "form: times") == {
        "model": "times",
        "times_ns": [500 * MS, 1250 * MS],
        "repeat_ns": None,
    }
    assert loss(tmp_path, "t_ms\n500\n", "form: times")["times_ns"] == [500 * MS]


def test_times_begin_again_after_a_mean_gap_or_a_period(tmp_path: Path) -> None:
    # Gaps of 1 s and 3 s: the mean is 2 s.
    assert loss(tmp_path, "1\n2\n5\n", "form: times, at_end: loop")["repeat_ns"] == 7000 * MS
    assert loss(tmp_path, "1\n2\n5\n", "form: times, at_end: loop, period: 6s")["repeat_ns"] == 6000 * MS
    (tmp_path / "l.txt").write_text("1\n", encoding="utf-8")
    text = message(tmp_path, "loss: {model: trace, file: l.txt, form: times, at_end: loop}")
    assert "add for example period: 60s" in text


def test_steps_of_delay_are_weighted_with_their_time(tmp_path: Path) -> None:
    # 10 ms for 1 s, 20 ms for 3 s, and the last value as long as the one before it: 30 ms for 3 s.
    planned = delay(tmp_path, "t_s,delay_ms\n5,10\n6,20\n9,30\n")
    assert planned == {
        "model": "series",
        "mean_ns": round((10 + 3 * 20 + 3 * 30) / 7 * MS),
        "points": [[0, 10 * MS], [1000 * MS, 20 * MS], [4000 * MS, 30 * MS]],
        "linear": False,
        "repeat_ns": None,
    }


def test_straight_lines_of_delay_have_the_mean_of_trapezia(tmp_path: Path) -> None:
    planned = delay(tmp_path, "t_s,delay_ms\n0,10\n1,20\n4,30\n", ", interpolate: linear, at_end: loop")
    assert planned["mean_ns"] == round((15 + 3 * 25) / 4 * MS)
    assert (planned["linear"], planned["repeat_ns"]) == (True, 7000 * MS)


def test_columns_are_found_by_name_and_unit(tmp_path: Path) -> None:
    text = "n,when_ms,loss,rtt_us,delay_us\n1,100,0,900,300\n2,200,0,950,400\n"
    # rtt_us is of both ways: one way is half of it.
    assert delay(tmp_path, text)["points"] == [[0, 450_000], [100 * MS, 475_000]]
    assert delay(tmp_path, text, ", column: delay_us")["points"][1] == [100 * MS, 400_000]


def test_a_trace_that_ends_the_run_shortens_it(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("t_s,rate_mbit\n0,10\n10,20\n", encoding="utf-8")
    plan = plan_of("rate: {trace: r.csv, at_end: end}", folder=tmp_path)
    assert plan["duration_ns"] == 20 * 10**9
    assert plan_of("rate: {trace: r.csv}", folder=tmp_path)["duration_ns"] == 60 * 10**9


def test_a_trace_of_rates_makes_queues_by_its_mean(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("t_s,rate_mbit\n0,10\n1,30\n", encoding="utf-8")
    planned = forward("rate: {trace: r.csv, at_end: loop}, delay: 50ms, queue: 1bdp", folder=tmp_path)
    assert planned["rate"]["points"] == [[0, 10**7], [10**9, 3 * 10**7]]
    assert planned["rate"]["repeat_ns"] == 2 * 10**9
    assert planned["queue"]["limit_bytes"] == 20_000_000 // 8 // 10


def test_mahimahis_last_time_is_the_period(tmp_path: Path) -> None:
    (tmp_path / "v.up").write_text("0\n3\n3\n10\n", encoding="utf-8")
    planned = forward("rate: {opportunities: v.up}", folder=tmp_path)["rate"]
    assert planned == {
        "model": "opportunities",
        "times_ns": [0, 3 * MS, 3 * MS, 10 * MS],
        "repeat_ns": 10 * MS,
        "bytes": 1500,
    }


def test_netems_tables_are_read_and_sorted(tmp_path: Path) -> None:
    (tmp_path / "x.dist").write_text("# a table\n 8192 -8192\n 4096 # more\n", encoding="utf-8")
    planned = forward("delay: {base: 5ms, jitter: {dist: table, file: x.dist, sd: 3ms}}", folder=tmp_path)
    assert planned["delay"]["jitter"] == {
        "dist": "table",
        "mean": 0.0,
        "sd": 3e6,
        "samples": [-8192, 4096, 8192],
    }
    assert planned["delay"]["mean_ns"] == 5 * MS + round(3 * MS * 4096 / 3 / 8192)


def test_a_column_of_samples_is_a_distribution(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("run,extra_us\n1,300\n2,100.5\n", encoding="utf-8")
    planned = forward("delay: {base: 5ms, jitter: {dist: empirical, file: s.csv}}", folder=tmp_path)
    assert planned["delay"]["jitter"]["values"] == [100_500.0, 300_000.0]


def test_a_file_is_found_beside_the_scenario_and_kept_with_the_run(tmp_path: Path) -> None:
    from longhaul.scenario import load_scenario, resolve

    (tmp_path / "v.up").write_text("5\n", encoding="utf-8")
    text = "version: 1\nname: t\nnodes: {a: {kind: host}, b: {kind: host}}\n"
    text += "links: {w: {endpoints: [a, b], rate: {opportunities: v.up}}}\n"
    (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
    resolved = resolve(load_scenario(tmp_path / "t.yaml"))
    assert resolved.inputs == (tmp_path / "v.up",)


@pytest.mark.parametrize(
    ("content", "models", "said"),
    [
        ("0\n", "rate: {opportunities: f}", "f:1:1: no time is after 0"),
        ("5\n3\n", "rate: {opportunities: f}", "f:2:1: the time is not later"),
        ("t_s,rate_mbit\n0,0\n", "rate: {trace: f}", "has no rate above 0"),
        ("1,2\n3,4\n", "rate: {trace: f}", "f:1:1: the first line is not a header"),
        ("t_s,rate_mbit\n1\n", "rate: {trace: f}", "f:2:1: has 1 value for 2 columns"),
        ("t_s,delay_ms\n", "delay: {trace: f}", "f:1:1: has a header, but no rows"),
        ("t_s,delay_ms\n0,-3\n", "delay: {trace: f}", 'f:2:3: "-3" is negative'),
        ("t_s,delay_ms\n0,1e99\n", "delay: {trace: f}", "f:2:3: \"1e99\" is more than Longhaul supports"),
        ("# nothing\n", "loss: {model: trace, file: f, form: gaps}", "f:1:1: is empty"),
        ("0\n", "loss: {model: trace, file: f, form: indices}", "f:1:1: there is no packet 0"),
        ("1.5\n", "loss: {model: trace, file: f, form: gaps}", "is not a whole number"),
        ("1 2\n", "loss: {model: trace, file: f, form: gaps}", "f:1:1: has 2 values"),
        ("0 0\n", "loss: {model: trace, file: f, form: ns2, at_end: loop}", "cannot loop"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_has_its_line_and_a_remedy(
    tmp_path: Path, content: str, models: str, said: str
) -> None:
    (tmp_path / "f").write_text(content, encoding="utf-8")
    text = message(tmp_path, models)
    assert said in text
    assert "; " in text.splitlines()[0]
