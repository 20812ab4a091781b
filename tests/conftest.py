"""What tests of several directories share."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from machine import why_not_live

pytest_plugins = ["scheduling_of_tests"]

# Other work on the machine may take any time; no test measures it.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _library_logging() -> Iterator[None]:
    """After a test that ran a command in this process, the logger is the library's again."""
    logger = logging.getLogger("longhaul")
    handlers, level = list(logger.handlers), logger.level
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


@pytest.fixture(scope="session")
def live_machine() -> None:
    """Skip a test that needs real namespaces on a machine that has none."""
    reason = why_not_live()
    if reason:
        pytest.skip(f"live runs do not work here: {reason}")


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Where sockets go, so that no test meets another's runs."""
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def environment(tmp_path: Path, runtime: Path) -> dict[str, str]:
    return {
        **os.environ,
        "XDG_RUNTIME_DIR": str(runtime),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }


@pytest.fixture
def work(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    return directory
