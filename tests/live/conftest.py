"""Live tests bring up real namespaces; where this machine cannot, they say so and are skipped."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def _why_not() -> str | None:
    tun = Path("/dev/net/tun")
    if not os.access(tun, os.R_OK | os.W_OK):
        return "/dev/net/tun is not open to us"
    for program in ("ping", "iperf3", "traceroute"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    namespaces = ["unshare", "-n", "true"] if os.geteuid() == 0 else ["unshare", "-rn", "true"]
    if subprocess.run(namespaces, capture_output=True, check=False).returncode != 0:
        return "namespaces are not allowed"
    return None


@pytest.fixture(autouse=True, scope="session")
def live_machine() -> None:
    """Skip everything here on a machine that cannot run live."""
    reason = _why_not()
    if reason:
        pytest.skip(f"live runs do not work here: {reason}")
