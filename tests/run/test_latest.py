"""Which run `latest` means."""

from pathlib import Path

import pytest

import longhaul
from longhaul.errors import LonghaulError

CALM = """
version: 1
name: calm
duration: 1s
params: {cc: reno}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wire: {endpoints: [a, b], delay: 5ms, rate: 1Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}}
sweep: {axes: {cc: [reno, cubic]}}
"""


def test_each_mode_has_a_latest_that_no_other_moves(tmp_path: Path) -> None:
    path = tmp_path / "calm.yaml"
    path.write_text(CALM)
    runs = tmp_path / "runs"
    swept = longhaul.sweep(path, runs=runs, report=False).directory
    simulated = longhaul.run_sim(path, runs=runs, report=False).directory
    found = {name: (runs / "calm" / name).resolve() for name in ("latest", "latest-sim", "latest-sweep")}
    assert found == {
        "latest": simulated.resolve(),
        "latest-sim": simulated.resolve(),
        "latest-sweep": swept.resolve(),
    }
    with pytest.raises(LonghaulError, match="is not a sweep") as caught:
        longhaul.resume(runs / "calm/latest")
    assert str(runs / "calm/latest-sweep") in str(caught.value.remedy)
    assert longhaul.resume(runs / "calm/latest-sweep", report=False).exit_code == 0
