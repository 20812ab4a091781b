"""Verdicts on what engine and kernel counted."""

from io import StringIO
from typing import Any

from rich.console import Console

from longhaul.analysis.fidelity import FATES, SIMULATED_P99_NS, judge
from longhaul.analysis.metrics import metrics
from longhaul.cli.terminal.run import print_verdict


def counted(*, p99_ns: int = 0, simulated_p99_ns: int | None = None) -> dict[str, Any]:
    """What a good engine counts, but for these."""
    engine: dict[str, Any] = {
        "duration_ns": 10**9,
        "error": None,
        "packets": {"injected": 0, "copied": 0, "replies": 0, **dict.fromkeys(FATES, 0)},
        "ports": {},
        "lateness": {"all": {"p99_ns": p99_ns}},
        "gaps": {"count": 0, "total_ns": 0},
        "scheduling": {"policy": "fifo", "cores": 2},
    }
    if simulated_p99_ns is not None:
        engine["simulated"] = {"lateness": {"count": 5, "p99_ns": simulated_p99_ns}}
    return engine


def test_simulated_ends_may_have_their_turns_at_leisure() -> None:
    found = judge(counted(simulated_p99_ns=SIMULATED_P99_NS), {})
    assert found.verdict == "faithful"
    assert found.simulated["count"] == 5


def test_an_engine_that_does_not_keep_up_with_simulated_ends_is_degraded() -> None:
    found = judge(counted(simulated_p99_ns=5 * SIMULATED_P99_NS), {})
    assert found.verdict == "degraded"
    (reason,) = found.reasons
    assert reason.what == "p99 lateness of simulated hosts is 5 ms, over the limit of 1 ms"
    assert reason.remedy is not None


def test_hosts_that_waited_for_a_processor_are_told_the_longest_first() -> None:
    found = judge(counted(), {}, {"a": {"cpu.waited_ns": 10**7}, "b": {"cpu.waited_ns": 2 * 10**8}, "c": {}})
    assert list(found.waiting.items()) == [("b", 0.2), ("a", 0.01)]
    assert found.verdict == "faithful"


def test_a_verdict_has_how_long_packets_waited_at_interfaces_of_the_machine() -> None:
    delay = {"count": 3, "p50_ns": 20_000, "p99_ns": 60_000}
    ports = {"west": {"read_delay": {**delay, "cdf": [[20_000, 1.0]]}}, "c": {}, "east": {"read_delay": None}}
    assert judge({**counted(), "ports": ports}, {}).read_delay == {"west": delay}
    found = {**judge({**counted(), "ports": ports}, {}).as_dict(), "spacing": {}}
    console = Console(width=100, file=StringIO())
    print_verdict({"fidelity": found, "changes": []}, console)
    assert isinstance(console.file, StringIO)
    assert "west: 3 packets arrived, and were read after 20 µs (p50), 60 µs (p99)" in console.file.getvalue()


def test_the_read_delay_of_a_run_is_the_longest_of_its_interfaces() -> None:
    quantiles = ("p50", "p90", "p99", "p999", "max")
    delays = {
        host: {"count": 3, **{f"{name}_ns": factor * number for number, name in enumerate(quantiles, 1)}}
        for host, factor in (("west", 1_000), ("east", 2_000))
    }
    ports = {host: {"read_delay": {**delay, "cdf": []}} for host, delay in delays.items()}
    found = judge({**counted(), "ports": ports}, {}).as_dict()
    empty = dict.fromkeys(("programs", "flows", "probes", "links"), ())
    measured = metrics({**empty, "fidelity": found})
    assert [measured[f"fidelity.read_delay.{name}"] for name in quantiles] == [
        2_000,
        4_000,
        6_000,
        8_000,
        10_000,
    ]
    without = metrics({**empty, "fidelity": judge(counted(), {}).as_dict()})
    assert without["fidelity.read_delay.p99"] is None


def test_a_run_without_simulated_ends_says_nothing_of_them() -> None:
    found = judge(counted(), {})
    assert (found.verdict, found.simulated) == ("faithful", {})


def test_late_packets_of_an_engine_that_worked_most_of_the_time_are_not_blamed_on_the_machine() -> None:
    busy = {**counted(p99_ns=700_000), "work": {"busy_ns": 9 * 10**8, "write_ns": 6 * 10**8}}
    found = judge(busy, {})
    assert found.work == {"busy": 0.9, "write": 0.6}
    (reason,) = found.reasons
    assert reason.remedy == "reduce the traffic: the engine is busy for 90 % of the time"


def test_late_packets_of_an_engine_that_had_time_are_reported_without_its_work() -> None:
    idle = {**counted(p99_ns=700_000), "work": {"busy_ns": 10**8, "write_ns": 10**7}}
    (reason,) = judge(idle, {}).reasons
    assert reason.what == "p99 lateness of packets is 700 µs, over the limit of 100 µs"
    assert reason.remedy == "reduce the traffic or free a CPU core"
