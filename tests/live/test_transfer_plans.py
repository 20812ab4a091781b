"""A plan of transfers carried out live: eWAN's serial service at a fiftieth of its rates."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from longhaul.cli.main import longhaul

SCENARIO = str(Path(__file__).parents[2] / "scenarios/transfers/two-sites.yaml")
SMALL = """
version: 1
requests:
  r1: {from: src1, to: sink1, volume: 10MB, deadline: 60s, max_rate: 20Mbit}
  r2: {from: src2, to: sink2, volume: 10MB, deadline: 60s, max_rate: 20Mbit}
"""


def carried(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    runs = ["--runs", str(folder), "--no-report", "--json"]
    result = CliRunner().invoke(longhaul, ["transfer", "run", *arguments, *runs])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def test_live_transfers_keep_to_the_plan(tmp_path):
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL)
    # 20.72 Mbit/s carry 20 Mbit/s of payload; 80 Mbit take 4 s. BDP: 173 segments.
    network = ["--set", "access=20.72Mbit", "--set", "window=260", "--set", "queue=500kB"]
    offs = []
    for _attempt in range(3):
        _code, summary = carried(
            tmp_path, str(requests), "--scenario", SCENARIO, "--policy", "serial-fcfs", *network
        )
        found = summary["planned_transfers"]["requests"]
        assert [each["state"] for each in found] == ["done", "done"]
        assert found[0]["planned"]["finish_s"] - found[0]["planned"]["start_s"] == pytest.approx(4.0)
        # Nobody is faster than the rate, but for the way of the last byte.
        assert all(each["achieved"]["finish_s"] - each["achieved"]["start_s"] > 4.0 for each in found)
        offs.append(max(each["finish_off"] for each in found))
        if offs[-1] < 0.05:
            break
    assert min(offs) < 0.05, offs
