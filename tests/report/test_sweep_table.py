"""The table of a sweep in terminals of any width."""

from typing import Any

import pytest

from longhaul.cli.terminal.sweep import print_sweep

METRICS = ("fairness.jain", "flows.one.goodput", "flows.two.goodput")


def row(variant: int, metric: str) -> dict[str, Any]:
    return {
        "variant": variant,
        "metric": metric,
        "unit": "bit/s",
        "axis_cc": ("reno", "cubic")[variant],
        "mean": 23.1e6 + variant,
        "half_width": None,
        "runs": 1,
        "repeats": 5,
    }


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_value_and_no_number_of_runs_is_cut(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    summary = {
        "name": "t",
        "variants": 2,
        "verdicts": {},
        "not_measured": [],
        "points": 10,
        "failed": 0,
        "errors": [],
        "axes": [{"name": "cc", "column": "axis_cc"}],
    }
    print_sweep(summary, [row(variant, metric) for variant in (0, 1) for metric in METRICS])
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count("23.1 Mbit/s") == 6
    assert shown.count("deterministic,") == shown.count("n = 1") == 2
    # A name of several lines is broken behind its dots alone.
    words = shown[: shown.index("reno")].split()[5:]
    assert {part for metric in METRICS for part in metric.replace(".", ". ").split()} <= set(words) or (
        set(METRICS) <= set(words)
    )
