"""The process of a run that the page started: ``python -m longhaul.page.running``.

Orders come as one line of JSON on standard input; what happens goes out as lines of JSON. The run ends early
when the line ``stop`` comes, and also when the input ends: so it ends with the server that asked for it.
"""

import json
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from longhaul.analysis.outcome import Outcome
from longhaul.errors import LonghaulError
from longhaul.page.outcomes import line_of
from longhaul.page.refusals import as_json
from longhaul.page.run_process import Run, Tell, forwarder, listen, teller
from longhaul.page.transfer_process import carry_out
from longhaul.run import conclusion, live, live_shards, rerun, sim
from longhaul.run.signals import interrupt_on_signals
from longhaul.run.sockets import socket_path
from longhaul.run.virtual_clock import VirtualClock, clock_of
from longhaul.scenario import Resolved, resolve
from longhaul.scenario.check.load import parse_scenario

Json = dict[str, Any]


def main() -> int:
    """Run what the orders say; 0 if there are results."""
    tell = teller()
    # Whoever starts a server in the background may have told it to ignore this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt_on_signals()
    orders: Json = json.loads(sys.stdin.readline())
    run = Run()
    threading.Thread(target=listen, args=(run,), daemon=True).start()
    try:
        again = rerun.recorded(Path(orders["again"]), comparable=False) if "again" in orders else None
        resolved = _resolved(orders, again)
        for warning in resolved.warnings:
            tell({"event": "warning", "message": warning.headline})
        if again is not None and rerun.is_changed_by_hand(again.directory):
            tell({"event": "warning", "message": "the changes by hand of the run before are not repeated"})
        if "transfers" in orders:
            directory, reason = carry_out(resolved, orders, run, tell)
        elif (again.mode if again else orders["mode"]) == "sim":
            directory, reason = _simulated(resolved, orders, run, tell)
        else:
            clock = (
                rerun.clock(again, resolved)
                if again
                else clock_of(orders["clock"], resolved.scenario, orders["kernel"])
            )
            directory, reason = _live(resolved, orders, run, tell, clock=clock)
        tell({"event": "concluding", "reason": reason})
        summary = conclusion.conclude(directory, reason=reason, report=False)
        verdict = summary["fidelity"]["verdict"]
        outcome = line_of(Outcome.from_dict(summary["outcome"]))
        tell({"event": "results", "verdict": verdict, "outcome": outcome})
        from longhaul.report.html import write_report

        write_report(directory)
        code = conclusion.exit_code(summary)
        tell({"event": "end", "reason": reason, "exit_code": code, "verdict": verdict, "outcome": outcome})
    except LonghaulError as error:
        tell({"event": "failed", **as_json(error), "exit_code": error.exit_code})
        return 1
    return 0


def _resolved(orders: Json, again: rerun.Recorded | None) -> Resolved:
    if again is not None:
        return rerun.resolved(again)
    scenario = parse_scenario(
        orders["text"].encode(),
        name=orders["name"],
        settings=orders["settings"],
        folder=Path(orders["folder"]),
    )
    return resolve(scenario, seed=orders["seed"])


def _live(
    resolved: Resolved, orders: Json, run: Run, tell: Tell, *, clock: VirtualClock | None
) -> tuple[Path, str]:
    planned = live.plan_run(resolved, clock=clock)
    threads = live_shards.threads_of(planned.plan, orders.get("shards", 1))
    prepared = live.begin(planned, runs=Path(orders["runs"]), argv=orders["argv"])
    tell({"event": "directory", "directory": str(prepared.directory)})
    progress = forwarder(prepared.directory, socket_path(prepared.run), run, tell)
    try:
        with conclusion.results_so_far(prepared.directory, report=True):
            finished = live.run(prepared, progress=progress, shards=threads)
    finally:
        run.ends()
    return finished.directory, finished.reason


def _simulated(resolved: Resolved, orders: Json, run: Run, tell: Tell) -> tuple[Path, str]:
    known = False

    def progress(simulated_s: float, real_s: float) -> None:
        nonlocal known
        if not known:
            known = True
            run.begins()
            tell({"event": "started"})
        tell({"event": "progress", "t_ns": round(simulated_s * 1e9), "real_s": round(real_s, 3)})

    def made(directory: Path) -> None:
        tell({"event": "directory", "directory": str(directory)})

    try:
        finished = sim.run(
            resolved,
            runs=Path(orders["runs"]),
            argv=orders["argv"],
            progress=progress,
            made=made,
            shards=orders.get("shards", 1),
        )
    finally:
        run.ends()
    return finished.directory, finished.reason


if __name__ == "__main__":
    sys.exit(main())
