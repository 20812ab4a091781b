"""Whether the hosts of a live run had the CPU that their programs wanted: a verdict beside the network's.

The network may have done everything at the right time while programs waited for a CPU. Then they answered
and computed late, and their TCP and their run times show it.
"""

from collections.abc import Mapping
from typing import Any

from longhaul.analysis.text import few_text, share_text

WAITING_SHARE = 0.10
"""Of the run, in which some program of a host was ready and had no CPU; beyond it the host was starved."""


def evaluate_hosts(waiting: Mapping[str, float], *, is_measured: bool) -> dict[str, Any]:
    """``state``: ``ok``, ``starved``, or ``unknown`` where the kernel does not say; with reasons.

    ``waiting`` is by host the share of the time in which a program of it waited for a CPU.
    """
    starved = {host: share for host, share in waiting.items() if share > WAITING_SHARE}
    state = "starved" if starved else "ok" if is_measured else "unknown"
    return {"state": state, "threshold": WAITING_SHARE, "reasons": [_reason(starved)] if starved else []}


def _reason(starved: Mapping[str, float]) -> dict[str, str]:
    worst = sorted(starved, key=lambda host: -starved[host])
    named = few_text([f"{host} ({share_text(starved[host])})" for host in worst])
    return {
        "what": "programs and TCP ran slower than on dedicated hosts: CPU wait over "
        f"{share_text(WAITING_SHARE)} of the time on {named}",
        "remedy": "run fewer hosts or programs at a time, give them less to compute, or use a machine with "
        "more CPU cores",
    }
