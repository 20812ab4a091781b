"""Accuracy of a relay's delays.

Every threshold stands here, and in docs/how-to/relay.md.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from longhaul.analysis.fidelity import Fidelity, Reason, worst_of
from longhaul.units.text import time_text

LATENESS_P99_NS = 500_000
"""Beyond it, one piece in a hundred was later than a local network's own latency can hide."""
FEW_PIECES = 100
"""Of fewer, the last percentile is the worst moment alone, and one in ten is judged instead."""
FAILED_SHARE = 0.01
"""Share of connections that the relay itself turned away."""


def judge_relay(result: Mapping[str, Any] | None) -> Fidelity:
    """The verdict on a relay, from its result."""
    if not result:
        reason = Reason("invalid", "the relay left no results", "see raw/relay.json")
        return Fidelity("invalid", (reason,), {}, {}, {}, {})
    reasons = tuple(_reasons(result))
    return Fidelity(
        verdict=worst_of(each.verdict for each in reasons),
        reasons=reasons,
        lateness=_with_units(result.get("lateness_ns")),
        spacing={},
        gaps={},
        scheduling={},
    )


def _with_units(spans: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name if name == "count" else f"{name}_ns": value for name, value in (spans or {}).items()}


def _reasons(result: Mapping[str, Any]) -> Iterator[Reason]:
    log = result.get("log") or {}
    if log.get("error"):
        what = f"the relay's log is incomplete: {log['error']}"
        yield Reason("invalid", what, "raise log: {limit: ...}, free disk space, or give --no-log")
    quantile = "p99" if (result.get("pieces") or 0) >= FEW_PIECES else "p90"
    late_ns = (result.get("lateness_ns") or {}).get(quantile) or 0
    if late_ns > LATENESS_P99_NS:
        what = (
            f"{quantile} lateness of pieces of data is {time_text(late_ns)}, "
            f"over the limit of {time_text(LATENESS_P99_NS)}"
        )
        yield Reason("degraded", what, "reduce the traffic or free a CPU core")
    if log.get("dropped"):
        what = f"{log['dropped']} messages are not in the log"
        yield Reason("degraded", what, "raise log: {limit: ...}, or give --no-log")
    connections = result.get("connections") or {}
    refused = connections.get("refused") or 0
    if refused > FAILED_SHARE * ((connections.get("accepted") or 0) + refused):
        what = f"{refused} connections were refused"
        yield Reason("degraded", what, "raise connections:, or see raw/connections.csv for whose they were")
