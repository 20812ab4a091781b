"""The verdict on hosts, beside that on the network."""

from longhaul.analysis.fidelity import WAITING_SHARE, evaluate_hosts, judge
from longhaul.analysis.outcome import evaluate_outcome

from .test_fidelity import counted


def test_hosts_that_waited_too_long_are_starved_and_named_the_worst_first() -> None:
    found = evaluate_hosts({"a": 0.2, "b": 0.88, "c": 0.01}, is_measured=True)
    assert (found["state"], found["threshold"]) == ("starved", WAITING_SHARE)
    (reason,) = found["reasons"]
    assert "CPU wait over 10 % of the time on b (88 %), a (20 %)" in reason["what"]
    assert reason["remedy"]


def test_the_limit_itself_is_not_beyond_it() -> None:
    assert evaluate_hosts({"a": WAITING_SHARE}, is_measured=True)["state"] == "ok"


def test_without_pressure_figures_nobody_knows() -> None:
    assert evaluate_hosts({}, is_measured=False)["state"] == "unknown"


def test_starved_hosts_change_neither_the_network_s_verdict_nor_the_outcome_unless_strict() -> None:
    fidelity = judge(counted(), {}, {"a": {"cpu.waited_ns": 9 * 10**8}}).as_dict()
    assert (fidelity["verdict"], fidelity["hosts"]["state"]) == ("faithful", "starved")
    summary = {"ended": "duration", "duration_ns": 10**9, "expectations": [], "fidelity": fidelity}
    assert evaluate_outcome(summary).state == "passed"
    strict = evaluate_outcome(summary, strict=True)
    assert (strict.state, strict.exit_code) == ("failed", 4)
    assert strict.failures[0].text.startswith("hosts starved: programs and TCP ran slower")


def test_a_simulation_has_no_hosts_to_starve() -> None:
    assert judge({**counted(), "mode": "sim"}, {}).hosts == {}
