"""What this machine can do for tests."""

import os
import shutil
import subprocess
from pathlib import Path


def why_not_live() -> str | None:
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
