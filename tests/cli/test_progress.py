"""What a simulation shows on a terminal while one waits for it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from terminals import on_a_terminal

LONG = """
version: 1
name: long
duration: 60s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 1Gbit}}
traffic: {bulk: {kind: tcp, from: a, to: b}}
"""


def test_a_simulation_says_how_long_the_rest_takes_and_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG)

    said, code = on_a_terminal(tmp_path, "sim", "long.yaml")

    assert code == 0, said
    lines = [line for line in said.replace("\r", "\n").splitlines() if "simulating" in line]
    assert any(" left, " in line and "times real time" in line for line in lines), said
    assert "writing results" in said
    assert "writing report" in said


def test_without_a_terminal_there_is_no_bar(
    longhaul: Callable[..., "subprocess.CompletedProcess[str]"], work: Path
) -> None:
    (work / "short.yaml").write_text(LONG.replace("60s", "1s"))

    done = longhaul("sim", "short.yaml")

    assert done.returncode == 0, done.stderr
    assert "simulating" not in done.stderr
    assert "" not in done.stderr.splitlines(), "blank lines take the place of a bar"
