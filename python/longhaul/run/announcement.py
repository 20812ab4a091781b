"""What to expect of a run, on standard error before it begins."""

from collections.abc import Sequence

from longhaul import log
from longhaul.run import socket_buffers
from longhaul.scenario.lower.preview import preview
from longhaul.scenario.lower.resolve import Resolved


def announce(resolved: Resolved) -> None:
    """Log the RTTs in one line, and a warning of each kind that applies live and simulated."""
    expected = preview(resolved)
    if expected.line is not None:
        log.note(f"expected {expected.line}")
    log.warn(*expected.warnings)


def announce_live(resolved: Resolved, *commands: Sequence[str]) -> None:
    """The same, and what this machine refuses to its programs, or to further ``commands``."""
    announce(resolved)
    programs = [program["argv"] for program in resolved.plan["programs"]]
    log.warn(*socket_buffers.concerns([*programs, *commands], resolved.plan))
