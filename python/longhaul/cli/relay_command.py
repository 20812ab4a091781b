"""``longhaul relay``, from its options to its results."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul import log
from longhaul.relay.quick import Flags, resolved_of
from longhaul.relay.server import Opened, Order, serve
from longhaul.scenario.lower.relay import plan_relay


def run_relay(
    scenario: Path | None, order: Order, *, settings: Mapping[str, str], flags: Flags, as_json: bool
) -> int:
    """Relay in the foreground and print the results; returns the exit code."""
    resolved = resolved_of(scenario, settings=settings, flags=flags)
    log.warn(*resolved.warnings, *plan_relay(resolved, gateway=order.gateway).warnings)
    served = serve(resolved, order, told=_say)
    show(served.summary, served.directory, as_json=as_json)
    return served.exit_code


def _say(opened: list[Opened]) -> None:
    for each in opened:
        print(each, file=sys.stderr)
    print("relaying; Ctrl-C ends it", file=sys.stderr, flush=True)


def show(summary: Mapping[str, Any], directory: Path, *, as_json: bool) -> None:
    """Print a summary on standard output, and where the rest is."""
    if as_json:
        print(json.dumps(summary, indent=1))
        return
    from longhaul.cli.terminal.relay import print_relay
    from longhaul.report.console import Console

    print_relay(summary, Console())
    print(f"results: {directory}")
