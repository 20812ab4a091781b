"""The certificate of this host: the results of ``longhaul calibrate``, quoted in each run."""

import json
import os
import platform
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from longhaul.storage import replace_text


class Certificate(TypedDict):
    """What ``longhaul calibrate`` measured of this machine; rates in bit/s, times in ns."""

    measured: str
    """When, UTC."""
    kernel: str
    cpu: str
    cpus: int
    base_one_way_ns: int
    """What the emulator adds to a direct veth, one way."""
    direct_rtt_ns: int
    zero_delay_rtt_ns: int
    jitter_p50_ns: int
    """Lateness at 2,000 packets/s on an otherwise idle host."""
    jitter_p99_ns: int
    ceiling_bits_per_s: float
    """One TCP flow, no delay, no rate."""
    ceiling_packets_per_s: float
    """The same with every segment written alone."""
    direct_bits_per_s: float
    faithful_bits_per_s: int
    """The highest constant rate at which lateness held; 0 if none did."""
    gaps_per_s: float
    """Times that the host did not run the engine for over 100 µs, during the idle measurement."""
    faithful_packets_per_s: int
    """The highest rate of small packets, each written alone, at which lateness held; 0 if none did."""
    hosts_per_s: float
    """How fast a network comes up."""
    gigabit_tcp_bits_per_s: float
    """Payload over emulated gigabit Ethernet of MTU 1500; by arithmetic 941.5 Mbit/s."""
    gigabit_udp_bits_per_s: float
    """The same; by arithmetic 957.1 Mbit/s."""


def state_home() -> Path:
    """Where this user's programs keep what is to outlast a run."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "longhaul"


def certificate_path() -> Path:
    """Where this host's certificate is kept."""
    return state_home() / "certificate.json"


def store_certificate(certificate: Certificate) -> Path:
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
