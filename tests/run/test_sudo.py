"""A run that is to start by sudo is refused before it has a directory, if there is no sudo."""

from pathlib import Path

import pytest

from longhaul import subprocesses
from longhaul.errors import LonghaulError
from longhaul.run import live
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: sudo
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {l: {endpoints: [a, b], delay: 1ms}}
"""


def test_without_sudo_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "find_program", lambda _name: None)
    resolved = resolve(parse_scenario(SCENARIO, name="sudo"))
    with pytest.raises(LonghaulError, match="sudo is not installed") as refused:
        live.prepare(resolved, runs=tmp_path / "runs", argv=[], sudo=True)
    assert refused.value.remedy == "sudo apt-get install sudo"
    assert list(tmp_path.iterdir()) == []
