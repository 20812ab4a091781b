"""A plan of transfers carried out live: eWAN's serial service at a fiftieth of its rates."""

import pytest
from transferring import SCENARIO, SMALL, carried


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
