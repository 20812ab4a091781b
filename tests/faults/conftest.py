"""Faults are those of the fault campaign, done from a directory of its own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.storage import Faulty
from longhaul import storage

sys.path.append(str(Path(__file__).parents[2] / "studies" / "faults"))


@pytest.fixture(scope="session")
def live_machine(live_machine: None) -> None:
    """Skip a test of live runs also where faults cannot be done to them."""
    if os.geteuid() != 0:
        pytest.skip("live runs with faults need root")


@pytest.fixture
def no_sync() -> Iterator[None]:
    """Do not wait for the device: no test takes the power away."""
    with storage.using(Faulty()):
        yield
