"""Bulk transfers that the page started, in the process of their run."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul.analysis.pace import TimeLeft, left_text
from longhaul.page.run_process import Run, Tell, forwarder
from longhaul.scenario import Resolved
from longhaul.transfers.execute import live, preparation, simulation
from longhaul.transfers.execute.preparation import LEAD_S, Job
from longhaul.transfers.execute.transfer_programs import transfer_program
from longhaul.transfers.plan.controller import Controller
from longhaul.transfers.plan.policies import settings
from longhaul.transfers.plan.progress import Care, remaining_s
from longhaul.transfers.plan.request_files import parse_requests

_EVERY_S = 0.5
"""Between two messages about progress."""


def carry_out(resolved: Resolved, orders: Mapping[str, Any], run: Run, tell: Tell) -> tuple[Path, str]:
    """Plan and carry out the transfers of ``orders``; the run directory, and how the run ended."""
    asked = orders["transfers"]
    care = Care(
        policy=asked["policy"],
        settings=settings(asked["policy"], f=asked["f"], window_s=asked["window_s"]),
        margin=asked["margin"],
        attempts=asked["attempts"],
    )
    file = parse_requests(asked["text"].encode(), name=asked["name"])
    job = preparation.place(file, resolved, care=care)
    runs, argv = Path(orders["runs"]), list(orders["argv"])
    return (_simulated if orders["mode"] == "sim" else _live)(job, asked, runs, argv, run, tell)


def _simulated(
    job: Job, _asked: Mapping[str, Any], runs: Path, argv: list[str], run: Run, tell: Tell
) -> tuple[Path, str]:
    reports: TransferProgress | None = None

    def began(directory: Path, controller: Controller, _socket: Path | None) -> None:
        nonlocal reports
        reports = TransferProgress(controller, tell)
        tell({"event": "directory", "directory": str(directory)})
        run.begins()
        tell({"event": "started"})

    def progress(simulated_s: float, real_s: float) -> None:
        tell({"event": "progress", "t_ns": round(simulated_s * 1e9), "real_s": round(real_s, 3)})
        if reports is not None:
            reports.report(simulated_s - LEAD_S, real_s / simulated_s if simulated_s else 1.0)

    try:
        made = simulation.run(job, runs=runs, argv=argv, name=None, progress=progress, began=began)
    finally:
        run.ends()
    return made.directory, made.reason


def _live(
    job: Job, asked: Mapping[str, Any], runs: Path, argv: list[str], run: Run, tell: Tell
) -> tuple[Path, str]:
    chosen = transfer_program(asked["program"], command=None, server=None)
    takers: list[Callable[[Mapping[str, Any]], None]] = []
    over = threading.Event()

    def began(directory: Path, controller: Controller, socket: Path | None) -> None:
        assert socket is not None
        tell({"event": "directory", "directory": str(directory)})
        forward = forwarder(directory, socket, run, tell)
        reports = TransferProgress(controller, tell)

        def follow(began_s: float) -> None:
            while not over.wait(_EVERY_S):
                reports.report(time.monotonic() - began_s - LEAD_S, 1.0)

        def take(message: Mapping[str, Any]) -> None:
            if message.get("event") == "started":
                threading.Thread(target=follow, args=(time.monotonic(),), daemon=True).start()
            forward(message)

        takers.append(take)

    @contextmanager
    def watched(_plan: Path) -> Iterator[_Events]:
        yield _Events(takers[0])

    try:
        finished = live.run(
            job,
            runs=runs,
            argv=argv,
            name=None,
            transfer_program=chosen,
            pacing=asked["pacing"],
            watched=watched,
            began=began,
        )
    finally:
        over.set()
        run.ends()
    return finished.directory, finished.reason


@dataclass(frozen=True)
class _Events:
    """Takes the events of a run."""

    tell: Callable[[Mapping[str, Any]], None]


@dataclass
class TransferProgress:
    """Reports to the page how far transfers are, twice a second at most."""

    controller: Controller
    tell: Tell
    next_s: float = field(default_factory=time.monotonic)
    """When, on CLOCK_MONOTONIC, the next message may come."""

    def report(self, now_s: float, pace: float) -> None:
        """The plan's clock is at ``now_s``, and each of its seconds takes ``pace`` seconds."""
        if time.monotonic() < self.next_s:
            return
        self.next_s = time.monotonic() + _EVERY_S
        known = self.controller.transfers
        left_s = pace * remaining_s(self.controller.case, known, max(0.0, now_s))
        self.tell(
            {
                "event": "transferred",
                "over": sum(each.is_over for each in known),
                "requests": len(known),
                "moved_bytes": sum(each.received_bytes for each in known),
                "volume_bytes": sum(each.request.volume_bytes for each in known if each.state != "refused"),
                "left_text": left_text(TimeLeft(left_s, left_s)),
            }
        )
