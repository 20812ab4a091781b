"""The outcome of a run, from summaries of runs that ended in every way."""

from typing import Any

import pytest

from longhaul.analysis.outcome import Outcome, ending_text, evaluate_outcome, program_failure


def program(**changes: Any) -> dict[str, Any]:
    """A program that ended as it should, but for ``changes``."""
    return {
        "name": "load",
        "host": "a1",
        "service": False,
        "may_end": False,
        "start_ns": 0,
        "end_ns": 10**9,
        "exit": 0,
        "signal": None,
        "stopped_by_run": False,
        "expect_exit": 0,
        "error": None,
        **changes,
    }


def service(**changes: Any) -> dict[str, Any]:
    return program(name="server", host="b1", service=True, expect_exit=None, **changes)


def flow(**changes: Any) -> dict[str, Any]:
    return {"flow": "bulk", "from": "a1", "error": None, **changes}


def expectation(**changes: Any) -> dict[str, Any]:
    row = {"metric": "flows.bulk.loss", "met": True, "value": 0.1, "why": None, "else": "fail"}
    return {**row, **changes}


def summary(**changes: Any) -> dict[str, Any]:
    """That of a good run, but for ``changes``."""
    return {
        "ended": "duration",
        "duration_ns": 2 * 10**9,
        "programs": [program(), service(exit=None, stopped_by_run=True)],
        "flows": [flow()],
        "expectations": [expectation()],
        "fidelity": {"verdict": "faithful", "reasons": []},
        **changes,
    }


def verdict(name: str) -> dict[str, Any]:
    return {"verdict": name, "reasons": [{"verdict": name, "what": "5 unintended drops of packets"}]}


def test_a_program_that_has_not_started_is_named_and_not_counted() -> None:
    late = program(name="late", start_ns=None, end_ns=None, exit=None)
    found = evaluate_outcome(summary(programs=[program(), late]))
    assert found.state == "passed"
    assert found.headline.startswith("Passed: 1 program, ")
    assert "not started: late" in found.headline


def test_a_run_in_which_nothing_failed_has_passed() -> None:
    found = evaluate_outcome(summary())
    assert (found.state, found.exit_code, found.failures) == ("passed", 0, ())
    assert found.headline == "Passed: 1 program, 1 flow, 1 expectation."


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (program(exit=3), "exit code 3, expected 0"),
        (program(exit=None, signal=9), "killed by SIGKILL (signal 9)"),
        (
            program(exit=None, error="no-such: cannot run it", start_ns=None),
            "could not start: no-such: cannot run it",
        ),
        (program(exit=0, expect_exit=1), "exit code 0, expected 1"),
        (service(exit=7), "ended at 1 s, before the run stopped it: exit code 7"),
        (service(exit=0), "ended at 1 s, before the run stopped it: exit code 0"),
        (service(exit=None, signal=9), "ended at 1 s, before the run stopped it: SIGKILL (signal 9)"),
    ],
)
def test_a_failed_program_or_service_fails_the_run_and_is_named(row: dict[str, Any], why: str) -> None:
    found = evaluate_outcome(summary(programs=[row]))
    assert (found.state, found.exit_code) == ("failed", 1)
    (failure,) = found.failures
    assert (failure.kind, failure.host, failure.reason) == (
        "service" if row["service"] else "program",
        row["host"],
        why,
    )
    assert failure.log == row["name"]
    assert found.headline == f"Failed: {failure.kind} {row['name']} on {row['host']}: {why}."


@pytest.mark.parametrize(
    "row",
    [
        program(exit=5, expect_exit=None),
        program(exit=5, expect_exit=5),
        program(exit=None, signal=15, stopped_by_run=True),
        program(exit=None, start_ns=None, end_ns=None),
        service(exit=1, stopped_by_run=True),
        {**service(exit=0), "expect_exit": 0},
        {**service(exit=7), "may_end": True},
    ],
)
def test_an_end_that_was_expected_is_not_a_failure(row: dict[str, Any]) -> None:
    assert program_failure(row) is None
    assert evaluate_outcome(summary(programs=[row])).state == "passed"


def test_a_flow_with_an_error_and_the_program_that_sent_it_are_one_failure() -> None:
    rows = [program(name="bulk", exit=1)]
    found = evaluate_outcome(summary(programs=rows, flows=[flow(error="unable to connect")]))
    (failure,) = found.failures
    assert (failure.kind, failure.reason) == ("flow", "unable to connect; exit code 1, expected 0")


def test_a_flow_without_a_program_fails_too() -> None:
    found = evaluate_outcome(summary(programs=[], flows=[flow(error="3 connections gave up")]))
    assert [each.text for each in found.failures] == ["flow bulk on a1: 3 connections gave up"]
    assert found.exit_code == 1


def test_a_transfer_that_was_accepted_and_not_carried_out_is_a_failure() -> None:
    request = {"request": "t1", "accepted": True, "met": False, "reason": "missed its deadline", "from": "a1"}
    plan = {"requests": [request, {**request, "request": "t2", "accepted": False}]}
    found = evaluate_outcome(summary(planned_transfers=plan))
    assert [each.text for each in found.failures] == ["transfer t1 on a1: missed its deadline"]


def test_an_expectation_that_is_not_met_fails_the_run() -> None:
    missed = expectation(met=False, why="10 %, expected at most 5 %")
    found = evaluate_outcome(summary(expectations=[expectation(), missed]))
    assert (found.state, found.exit_code) == ("failed", 1)
    assert found.headline == "Failed: expectation flows.bulk.loss: 10 %, expected at most 5 %."
    untrusted = evaluate_outcome(summary(expectations=[{**missed, "else": "untrusted"}]))
    assert (untrusted.state, untrusted.exit_code) == ("failed", 4)


def test_what_was_not_measured_is_excused_if_the_user_ended_the_run_early() -> None:
    absent = expectation(met=False, value=None, why="not measured")
    assert evaluate_outcome(summary(expectations=[absent])).state == "failed"
    found = evaluate_outcome(summary(expectations=[absent], ended="stopped"))
    assert (found.state, found.headline) == (
        "passed",
        "Passed: 1 program, 1 flow, not measured: flows.bulk.loss, stopped after 2 s.",
    )


def test_an_unfaithful_network_is_a_failure_with_its_own_exit_code() -> None:
    found = evaluate_outcome(summary(fidelity=verdict("invalid"), programs=[program(exit=3)]))
    assert (found.state, found.exit_code, len(found.failures)) == ("failed", 4, 2)
    assert found.headline == ("Failed: network invalid: 5 unintended drops of packets; and 1 more failure.")
    degraded = summary(fidelity=verdict("degraded"))
    assert evaluate_outcome(degraded).exit_code == 0
    assert evaluate_outcome(degraded, strict=True).exit_code == 4


def test_an_interrupted_run_keeps_the_failures_until_then() -> None:
    found = evaluate_outcome(summary(ended="interrupted", programs=[program(exit=3)]))
    assert (found.state, found.exit_code) == ("interrupted", 130)
    assert found.headline == "Interrupted: after 2 s; program load on a1: exit code 3, expected 0."


def test_a_crash_says_its_reason() -> None:
    found = evaluate_outcome(summary(), status="crashed", reason="the engine was killed by SIGKILL")
    assert (found.state, found.exit_code) == ("crashed", 70)
    assert found.headline == "Crashed: the engine was killed by SIGKILL."
    without = evaluate_outcome(summary(fidelity=verdict("invalid")), status="crashed")
    assert (without.reason, without.exit_code) == ("5 unintended drops of packets", 4)
    nothing = evaluate_outcome(None, status="crashed")
    assert (nothing.state, nothing.exit_code) == ("crashed", 70)


def test_a_run_that_could_not_begin_failed_for_its_reason() -> None:
    found = evaluate_outcome(None, status="failed", reason="program server: did not listen on TCP port 80")
    assert (found.state, found.exit_code) == ("failed", 1)
    assert found.headline == "Failed: program server: did not listen on TCP port 80."


def test_a_run_that_is_running_has_no_exit_code() -> None:
    assert evaluate_outcome(None, status="running") == Outcome(state="running")


def test_an_outcome_survives_its_file() -> None:
    found = evaluate_outcome(summary(programs=[program(exit=3)])).with_lines({"load": ("one", "two")})
    assert found.failures[0].lines == ("one", "two")
    assert Outcome.from_dict(found.as_dict()) == found
    assert found.as_dict()["headline"] == found.headline


def test_endings_fit_a_table() -> None:
    texts = {
        "exit 3": program(exit=3),
        "SIGKILL (signal 9)": program(exit=None, signal=9),
        "could not start": program(error="no such file", exit=None),
        "not started": program(exit=None, start_ns=None),
        "stopped at the end": program(stopped_by_run=True),
        "signal 99": program(exit=None, signal=99),
    }
    assert {ending_text(row): row for row in texts.values()} == texts
