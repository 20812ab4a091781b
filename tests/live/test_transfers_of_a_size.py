"""Real bulk traffic with ``bytes``: all of it arrives, and it ends when a simulated one does."""

from pathlib import Path
from typing import Any

import pytest

import longhaul

pytestmark = pytest.mark.waiting

TEXT = """
version: 1
name: sized
duration: {duration}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: 10ms, rate: 50Mbit, queue: 1bdp}}}}
traffic:
  file: {{kind: tcp, from: a, to: b, bytes: {size}, flows: {flows}, cc: {cc}, start: 200ms{more}}}
"""


def both(work: Path, **given: Any) -> tuple[Any, Any]:
    """A live run and a simulation."""
    given = {"duration": "4s", "size": "4MB", "flows": 1, "cc": "cubic", "more": "", **given}
    (work / "sized.yaml").write_text(TEXT.format(**given))
    return (
        longhaul.run_live(work / "sized.yaml", runs=work / "runs"),
        longhaul.run_sim(work / "sized.yaml", runs=work / "runs"),
    )


@pytest.mark.parametrize(("flows", "cc"), [(1, "cubic"), (4, "reno")])
def test_all_bytes_arrive_when_simulated_ones_do(tmp_path: Path, flows: int, cc: str) -> None:
    live, simulated = both(tmp_path, flows=flows, cc=cc)
    assert live.summary["outcome"]["state"] in ("passed", "degraded")
    (found,), (expected,) = live.summary["flows"], simulated.summary["flows"]
    assert found["bytes"] == expected["bytes"] == 4_000_000
    assert found["checked"][0]["reported"] == found["checked"][0]["counted"] == 4_000_000
    assert len(found["stream_rates"]) == flows
    assert found["algorithms"] == [cc]
    assert found["error"] is None
    # 4 MB are 0.67 s at 50 Mbit/s, behind slow start. Other work on the machine delays, and nothing hastens.
    took = [each["end_ns"] - each["start_ns"] for each in (found, expected)]
    assert took[0] > 0.9 * took[1]


def test_a_transfer_that_is_stopped_has_not_ended(tmp_path: Path) -> None:
    live, simulated = both(tmp_path, size="50MB", duration="3s", more=", stop: 2s")
    assert live.summary["outcome"]["state"] in ("passed", "degraded")
    for run in (live, simulated):
        (flow,) = run.summary["flows"]
        assert flow["end_ns"] is None
        assert 5e6 < flow["bytes"] < 12e6
        assert flow["error"] is None


def test_a_transfer_that_goes_on_at_the_end_of_the_run_has_not_ended(tmp_path: Path) -> None:
    live, _ = both(tmp_path, size="50MB", duration="2s")
    assert live.summary["outcome"]["state"] in ("passed", "degraded")
    (flow,) = live.summary["flows"]
    assert flow["end_ns"] is None
    assert flow["error"] is None
    assert flow["goodput_bits_per_s"] > 25e6
