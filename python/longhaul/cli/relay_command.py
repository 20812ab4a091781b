"""``longhaul relay``, from its options to its results."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul import log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.relay.quick import Flags, scenario_text
from longhaul.relay.server import Opened, Order, serve
from longhaul.scenario import Resolved, load_scenario, parse_scenario, resolve
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


def resolved_of(scenario: Path | None, *, settings: Mapping[str, str], flags: Flags) -> Resolved:
    """The scenario in a file, or that of the flags; raises LonghaulError for both and for neither."""
    if scenario is None:
        if not flags.given():
            raise LonghaulError(
                Code.ARGUMENT_MISSING,
                "neither a scenario nor a forward",
                remedy="write longhaul relay SCENARIO, or --delay 18ms --forward 8080=127.0.0.1:80",
                exit_code=2,
            )
        if not flags.forwards and not flags.socks:
            remedy = "add --forward 8080=127.0.0.1:80 or --socks 127.0.0.1:1080"
            raise LonghaulError(
                Code.RELAY_INCOMPLETE, "the relay would accept no connections", remedy=remedy, exit_code=2
            )
        return resolve(parse_scenario(scenario_text(flags).encode(), name="relay flags"))
    if flags.given():
        remedy = "write them into the scenario, or leave the scenario out"
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "the scenario defines its own links and forwards",
            remedy=remedy,
            exit_code=2,
        )
    return resolve(load_scenario(scenario, settings=settings), seed=flags.seed)


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
