"""What ``longhaul relay`` does."""

import sys
from collections.abc import Mapping
from pathlib import Path

from longhaul.errors import LonghaulError
from longhaul.run.relay.quick import Flags, scenario_text
from longhaul.run.relay.results import show
from longhaul.run.relay.serving import Opened, Order, serve
from longhaul.scenario import Resolved, load_scenario, parse_scenario, resolve
from longhaul.scenario.relay import plan_relay


def run_relay(
    scenario: Path | None, order: Order, *, settings: Mapping[str, str], flags: Flags, as_json: bool
) -> int:
    """Relay in the foreground and print the results; returns the exit code."""
    resolved = resolved_of(scenario, settings=settings, flags=flags)
    for warning in (*resolved.warnings, *plan_relay(resolved, gateway=order.gateway).warnings):
        print(f"longhaul: {warning}", file=sys.stderr)
    served = serve(resolved, order, told=_say)
    show(served.summary, served.directory, as_json=as_json)
    return served.exit_code


def resolved_of(scenario: Path | None, *, settings: Mapping[str, str], flags: Flags) -> Resolved:
    """The scenario in a file, or that of the flags; raises LonghaulError for both and for neither."""
    if scenario is None:
        if not flags.given():
            raise LonghaulError(
                "neither a scenario nor a forward",
                remedy="write longhaul relay SCENARIO, or --delay 18ms --forward 8080=127.0.0.1:80",
                exit_code=2,
            )
        if not flags.forwards and not flags.socks:
            remedy = "add --forward 8080=127.0.0.1:80 or --socks 127.0.0.1:1080"
            raise LonghaulError("nothing would come in", remedy=remedy, exit_code=2)
        return resolve(parse_scenario(scenario_text(flags).encode(), name="relay flags"))
    if flags.given():
        remedy = "write them into the scenario, or leave the scenario out"
        raise LonghaulError("links and forwards stand in the scenario", remedy=remedy, exit_code=2)
    return resolve(load_scenario(scenario, settings=settings), seed=flags.seed)


def _say(opened: list[Opened]) -> None:
    for each in opened:
        print(each, file=sys.stderr)
    print("relaying; Ctrl-C ends it", file=sys.stderr, flush=True)
