"""Times per iteration of parallel programs: their quantiles, their warm-up, and where they are read."""

import json
from pathlib import Path

import pytest

from longhaul.results.iterations import printed_iterations, simulated_iterations, summarise_iterations
from longhaul.results.program_output import measure

MS = 10**6


def test_the_warm_up_ends_with_the_first_iteration_near_the_median() -> None:
    times = [80 * MS, 40 * MS, *[10 * MS] * 97, 50 * MS]
    found = summarise_iterations(times)
    assert found == {
        "count": 100,
        "first_ns": 80 * MS,
        "mean_ns": (80 + 40 + 97 * 10 + 50) * MS / 100,
        "p50_ns": 10 * MS,
        "p90_ns": 10 * MS,
        "p99_ns": 50 * MS,
        "max_ns": 80 * MS,
        "warm_up": 2,
        "warm_up_ns": 120 * MS,
    }


def test_equal_iterations_have_no_warm_up_and_none_have_no_summary() -> None:
    found = summarise_iterations([5, 5, 5])
    assert found is not None
    assert (found["warm_up"], found["warm_up_ns"]) == (0, 0)
    assert summarise_iterations([]) is None


def test_the_last_valid_line_of_a_programs_output_counts(tmp_path: Path) -> None:
    log = tmp_path / "solver.out"
    assert printed_iterations(log) is None
    log.write_text('some text\n{"iteration_s": [9]}\n{"workload": "cg", "iteration_s": [0.25, 0.125]}\nend\n')
    found = printed_iterations(log)
    assert found is not None
    assert (found["count"], found["first_ns"], found["max_ns"]) == (2, 250 * MS, 250 * MS)


@pytest.mark.parametrize(
    "line",
    [
        '{"iteration_s": "none"}',
        '{"iteration_s": [1, null]}',
        '{"iteration_s": [-1]}',
        '{"iteration_s": [NaN]}',
        '{"iteration_s": []}',
        '{"iteration_s": [1',
        '["iteration_s"]',
    ],
)
def test_a_line_of_another_shape_is_output_like_any_other(line: str, tmp_path: Path) -> None:
    log = tmp_path / "solver.out"
    log.write_text(f"{line}\n")
    assert printed_iterations(log) is None


def test_a_simulated_program_has_the_quantiles_of_its_engine() -> None:
    job = {"iteration": {"count": 3, "p50_ns": 11, "p99_ns": 12, "cdf": []}, "iteration_ns": [30, 10, 10]}
    found = simulated_iterations(job)
    assert found is not None
    assert {name: found[name] for name in ("count", "first_ns", "p50_ns", "warm_up_ns")} == {
        "count": 3,
        "first_ns": 30,
        "p50_ns": 11,
        "warm_up_ns": 30,
    }
    assert "cdf" not in found


@pytest.mark.parametrize(("take", "value"), [("first", 8.0), ("p50", 3.0), ("p99", 9.0), ("last", 1.0)])
def test_a_programs_own_lines_give_first_median_and_p99(take: str, value: float, tmp_path: Path) -> None:
    log = tmp_path / "own.out"
    log.write_text("".join(f"step took {each} s\n" for each in (8, 2, 9, 3, 1)))
    wanted = {"t": {"pattern": "took ([0-9.]+) s", "json": None, "unit": "s", "take": take}}
    assert measure(log, wanted)["t"]["value"] == value


def test_an_iteration_line_survives_a_long_output(tmp_path: Path) -> None:
    log = tmp_path / "long.out"
    log.write_text("x" * (5 << 20) + "\n" + json.dumps({"iteration_s": [1.5]}) + "\n")
    found = printed_iterations(log)
    assert found is not None
    assert found["p50_ns"] == 1500 * MS
