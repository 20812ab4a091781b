"""A live run from the page: seen while it runs, changed, and stopped."""

from pathlib import Path

import pytest

from .served import serving

TEXT = """\
version: 1
name: changing
duration: 60s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 100Mbit}}
traffic: {probe: {kind: ping, from: near, to: far, every: 50ms}}
"""

# A value for each model but the delay.
EVERY = {
    "rate": "50Mbit",
    "loss": "{model: periodic, every: 9, position: egress}",
    "queue": "{kind: drr, limit: 200p}",
    "reordering": "{share: 20%, delay: 90ms}",
    "duplicate": "10%",
    "corrupt": "1%",
    "count": "ethernet",
    "coalesce": "50us",
}


def test_a_live_run_shows_what_is_changed_and_ends_when_it_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        can = server.ask("/api/state")[1]["can"]
        if not can["live"]:
            pytest.skip(f"live runs do not work here: {can['why']}")
        run = server.start(TEXT, mode="live")
        rtts_ns: list[int] = []
        names = []
        is_stopped = False
        with server.listen(run) as events:
            for name, data in events:
                names.append(name)
                if name != "sample" or data["probes"] is None or data["probes"][0] is None:
                    continue
                rtts_ns.append(data["probes"][0])
                if len(rtts_ns) == 3:
                    change = {"link": "wan", "way": None, "changes": {"delay": "60ms"}}
                    assert server.ask(f"/api/runs/{run}/set", change)[0] == 200
                    wrong = {**change, "changes": {"delay": "60"}}
                    assert server.ask(f"/api/runs/{run}/set", wrong)[0] == 400
                elif rtts_ns[-1] >= 120_000_000 and not is_stopped:
                    # The row of ping that the page shows is the log that it has.
                    log = server.ask(f"/api/runs/{run}/logs/probe?tail=2000")[1]["text"]
                    assert f"time={rtts_ns[-1] / 1e6:.0f}" in log
                    every = {"link": "wan", "way": "forward", "changes": EVERY}
                    status, answer = server.ask(f"/api/runs/{run}/set", every)
                    assert status == 200, answer
                    server.ask(f"/api/runs/{run}/stop", {})
                    # Samples that were on their way arrive after it.
                    is_stopped = True
        assert rtts_ns[0] >= 20_000_000
        assert min(rtts_ns) < 120_000_000 <= rtts_ns[-1]
        assert names[0] == "hello"
        assert {"up", "started", "program", "change", "ending", "results", "end"} <= set(names)
        details = server.ask(f"/api/runs/{run}")[1]
        assert (details["status"], details["mode"]) == ("stopped", "live")
        assert details["summary"]["probes"][0]["received"] > 0
        told, rest = details["changes"]
        assert sorted(rest["words"]) == sorted(f"{key}={value}" for key, value in EVERY.items())
        assert (told["by"], told["kind"], told["words"]) == ("page", "intervention", ["delay=60ms"])
        assert told["text"].endswith("→ 60 ms")
        assert details["verdict_text"] == f"{details['verdict']}, with 2 interventions"
        assert server.ask(f"/api/runs/{run}/set", change)[0] == 409, "it is over"
