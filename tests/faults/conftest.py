"""Live tests of faults bring up real namespaces; where this machine cannot, they are skipped."""

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def live_machine() -> None:
    """Skip a test where live runs do not work."""
    if os.geteuid() != 0 or not os.access(Path("/dev/net/tun"), os.R_OK | os.W_OK):
        pytest.skip("live runs with faults need root and /dev/net/tun")
    if shutil.which("ping") is None:
        pytest.skip("ping is not installed")
