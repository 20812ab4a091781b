"""What is told of hosts whose programs had no processor."""

import os
from pathlib import Path

import pytest

import longhaul
from longhaul import _longhaul

SCENARIO = """
version: 1
name: busy
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 5ms}}
programs:
  idle: {host: far, run: sleep 2}
"""
SPIN = "{host: near, run: [timeout, '2', sh, -c, 'while :; do :; done'], expect_exit: any}"


def test_more_programs_than_processors_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    own = _longhaul.own_cgroup()
    if own is None or not (Path(own) / "cpu.pressure").is_file() or not os.access(own, os.W_OK):
        pytest.skip("no control groups, or no PSI: nobody counts who waits")
    path = tmp_path / "busy.yaml"
    many = 3 * (os.cpu_count() or 1)
    path.write_text(SCENARIO + "".join(f"  spin{number}: {SPIN}\n" for number in range(many)))
    result = longhaul.run_live(path, runs=tmp_path / "runs", report=False)
    waiting = result.summary["fidelity"]["waiting"]
    assert waiting["near"] > 0.5
    assert waiting.get("far", 0.0) < waiting["near"] / 4
    table = result.table("hosts")
    found = dict(zip(zip(table["host"], table["counter"], strict=True), table["value"], strict=True))
    assert found["near", "cpu.waited_ns"] > 1e9
