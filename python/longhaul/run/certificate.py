"""The certificate of this host: what ``longhaul calibrate`` measured, quoted in each run."""

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.storage import replace_text


def state_home() -> Path:
    """Where this user's programs keep what is to outlast a run."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "longhaul"


def certificate_path() -> Path:
    """Where this host's certificate is kept."""
    return state_home() / "certificate.json"


def store_certificate(certificate: Mapping[str, Any]) -> Path:
    """Keep the certificate; returns where."""
    path = certificate_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, json.dumps(certificate, indent=1) + "\n")
    return path


def load_certificate() -> dict[str, Any] | None:
    """This host's certificate, unless there is none or it was made on another machine or kernel."""
    try:
        content: dict[str, Any] = json.loads(certificate_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = content.get("kernel") == platform.release() and content.get("cpu") == processor()
    return content if same and content.get("cpus") == os.cpu_count() else None


def processor() -> str:
    """The processor's model."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
