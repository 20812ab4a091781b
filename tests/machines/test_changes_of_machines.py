"""A change on several machines takes effect when the last of them has made it."""

from types import SimpleNamespace
from typing import Any

from longhaul.machines import control


def answered(times_ns: list[int]) -> tuple[dict[str, Any], list[str]]:
    """The answer to a change that was to be at 5 s, and that each machine made at one of ``times_ns``."""
    warnings: list[str] = []
    parts: Any = SimpleNamespace(
        soon_ns=lambda: 5_000_000_000,
        coordinator=SimpleNamespace(
            ask=lambda _agents, _request: [
                {"ok": True, "engine": {"is": "changed", "at_ns": each}} for each in times_ns
            ]
        ),
        warn=warnings.append,
    )
    agents: Any = [SimpleNamespace(name=f"m{number}") for number in range(len(times_ns))]
    return control._changed(parts, agents, {"do": "change", "changes": [], "cause": {}}), warnings


def test_a_change_that_all_machines_make_in_time_is_at_the_time_it_was_to_be() -> None:
    answer, warnings = answered([5_000_000_000] * 3)
    assert answer == {"ok": True, "engine": {"is": "changed", "at_ns": 5_000_000_000}}
    assert not warnings


def test_a_change_that_comes_late_to_a_machine_is_at_the_time_of_that_one() -> None:
    answer, (warning,) = answered([5_000_000_000, 5_071_000_000, 5_000_000_000])
    assert answer["engine"]["at_ns"] == 5_071_000_000
    assert "71 ms" in warning
    assert warning.endswith("the change at 5 s came late to m1")
