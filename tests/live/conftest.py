"""Live tests bring up real namespaces; where this machine cannot, they say so and are skipped."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _live(live_machine: None) -> None:
    """Skip everything here on a machine that cannot run live."""


@pytest.fixture
def private_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets of runs and the working directory are in the test's own directory."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
