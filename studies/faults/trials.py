"""One trial: a short live run, one fault at a random moment, and what there is afterwards."""

import json
import re
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import injection
import pyarrow.parquet as pq
from injection import until
from stage import Stage, is_settled

from longhaul.cli.regeneration import write_again
from longhaul.results import ending
from longhaul.results.run_record import path_of

SCENARIO = """
version: 1
name: NAME
duration: 1500ms
nodes: {a: {kind: host}, b: {kind: host}, r: {kind: router}}
links:
  left: {endpoints: [a, r], delay: 1ms, rate: 50Mbit}
  right: {endpoints: [r, b], delay: 2ms, rate: 20Mbit, loss: 1%}
traffic:
  load: {kind: udp, from: a, to: b, rate: 5Mbit}
  echo: {kind: ping, from: b, to: a, every: 50ms}
  background: {kind: tcp, from: a, to: b, simulated: true}
programs: {tree: {run: "sh -c 'sleep 300 & sleep 300'", host: b, expect_exit: any}}
measure: {every: 50ms, packets: {links: [right]}}
"""
LIFETIME_S = 2.5
"""A run's processes live about that long; the fault comes at a random moment of it."""
ENDED_WITHIN_S = 60.0
DISK_BYTES = 12 << 20
MEMORY_BYTES = 900 << 20


@dataclass(frozen=True)
class Fault:
    """What is done, and to whom."""

    kind: str
    """``kill``, ``abort``, ``terminate``, ``hang up``, ``stop``, ``memory``, ``disk`` or ``socket``."""
    victim: str
    """A process of :class:`injection.Tree`; ``disk``: none."""
    product: str
    """``run``, or ``up``, which stays up without a client."""


FAULTS = (
    *(Fault("kill", each, "run") for each in ("client", "worker", "supervisor", "engine", "observer")),
    *(Fault("kill", each, "up") for each in ("client", "worker", "supervisor", "engine", "exporter")),
    *(Fault("abort", each, "run") for each in ("worker", "engine", "observer")),
    *(Fault("terminate", each, "run") for each in ("client", "worker", "supervisor")),
    Fault("hang up", "client", "run"),
    *(Fault("stop", each, "run") for each in ("client", "worker", "supervisor", "engine", "observer")),
    *(Fault("stop", each, "up") for each in ("supervisor", "exporter")),
    *(Fault("memory", each, "run") for each in ("client", "worker", "supervisor", "engine", "observer")),
    Fault("memory", "supervisor", "up"),
    Fault("disk", "disk", "run"),
    Fault("disk", "disk", "up"),
    *(Fault("socket", each, "run") for each in ("client", "supervisor", "engine", "observer")),
    *(Fault("socket", each, "up") for each in ("supervisor", "exporter")),
)
_REPORTING = Lock()
"""Figures are drawn by one thread at a time."""
_PLACES = re.compile(r"/sys/fs/cgroup/\S*/(?=faults-)|/\S*/faults-\w+/(?=trial-\d)")
_SIGNALS = {
    "kill": signal.SIGKILL,
    "abort": signal.SIGABRT,
    "terminate": signal.SIGTERM,
    "hang up": signal.SIGHUP,
}


@dataclass
class Trial:
    """A row of the table."""

    seed: int
    number: int
    kind: str
    victim: str
    product: str
    moment_s: float
    """After the victim appeared."""
    phase: str = ""
    """``before`` there was a run directory, ``running``, or ``after`` its end was written."""
    hit: bool = False
    """Whether the victim was still there."""
    status: str = ""
    reason: str = ""
    warnings: str = ""
    exit_code: int | None = None
    ended: bool = False
    """Whether the run directory has a status and a reason, written where a process was left to do it."""
    named: bool = False
    """Whether the reason or a warning names the victim."""
    readable: bool = False
    """Whether report, summary and tables can be made of what there is."""
    rows: int = 0
    """Of links.parquet: intervals up to the end."""
    left: str = ""
    """What was there afterwards, before anything cleaned up."""
    took_s: float = 0.0
    problem: str = ""

    @property
    def has_run(self) -> bool:
        """Whether there was a run directory; before that, the command's exit code is all there is."""
        return self.status != "none"

    @property
    def is_good(self) -> bool:
        """Whether the run ended with a reason, has readable results, and left nothing."""
        is_told = self.ended and self.readable if self.has_run else self.exit_code is not None
        return is_told and not self.left and not self.problem


COLUMNS = [each.name for each in fields(Trial)]


def _directory(stage: Stage) -> Path | None:
    """The run directory, once there is one with a record."""
    found = [each for each in (stage.runs / stage.name).glob("2*") if path_of(each) is not None]
    return found[0] if found else None


def perform(number: int, *, seed: int, folder: Path) -> Trial:
    """One trial, whose fault and moment follow from ``seed``. Its files stay if it is not good."""
    random = Random(f"{seed}/{number}")
    fault = FAULTS[number % len(FAULTS)]
    trial = Trial(
        seed, number, fault.kind, fault.victim, fault.product, round(random.uniform(0, LIFETIME_S), 3)
    )
    place = folder / f"trial-{number:04d}"
    shutil.rmtree(place, ignore_errors=True)
    stage = Stage(place, f"faults{seed}x{number}")
    (place / "faults.yaml").write_text(SCENARIO.replace("NAME", stage.name), encoding="utf-8")
    began_s = time.monotonic()
    with ExitStack() as stack:
        if fault.kind == "disk":
            stack.enter_context(injection.small_disk(stage.runs, DISK_BYTES))
        memory = injection.memory_group(MEMORY_BYTES) if fault.kind == "memory" else nullcontext(None)
        group = stack.enter_context(memory)
        try:
            _run(stage, trial, random, group)
        except Exception as error:  # noqa: BLE001 -- a trial that goes wrong is a row, too
            trial.problem = f"{type(error).__name__}: {error}"
        stage.kill()
    trial.took_s = round(time.monotonic() - began_s, 2)
    if trial.is_good:
        shutil.rmtree(place, ignore_errors=True)
    return trial


def _run(stage: Stage, trial: Trial, random: Random, group: injection.MemoryGroup | None) -> None:
    words = ["run", "faults.yaml", "--no-report"]
    if trial.product == "up":
        port = random.randrange(20_000, 30_000)
        words = ["up", "faults.yaml", "--name", "faults", f"--prometheus=127.0.0.1:{port}"]
    client = _start(stage, *words)
    if group is not None:
        group.take_in(client.pid)
    elif trial.kind == "memory":
        trial.problem = "no control group here limits memory"
    filling = None
    if until(lambda: _has_appeared(stage, trial, client), within_s=ENDED_WITHIN_S):
        time.sleep(trial.moment_s)
        trial.phase = _phase(stage)
        if trial.kind == "disk":
            filling = injection.fill(stage.runs)
            trial.hit = True
        else:
            trial.hit = _do(stage, trial, client, random, group)
    if trial.product == "up":
        _wait(client)
        trial.exit_code = _wait(_start(stage, "down", "--name", "faults"))
    else:
        trial.exit_code = _wait(client)
    until(lambda: _is_over(stage), within_s=ENDED_WITHIN_S)
    until(lambda: not stage.left(), within_s=5)
    trial.left = "; ".join(stage.left())
    if filling is not None:
        filling.unlink(missing_ok=True)
    _examine(stage, trial)


def _has_appeared(stage: Stage, trial: Trial, client: "subprocess.Popen[bytes]") -> bool:
    """Whether there is something to do the fault to, or never will be."""
    if client.poll() is not None and trial.product == "run":
        return True
    if trial.kind == "disk":
        return _directory(stage) is not None
    return stage.tree(client.pid).pid(trial.victim) is not None


def _do(
    stage: Stage,
    trial: Trial,
    client: "subprocess.Popen[bytes]",
    random: Random,
    group: injection.MemoryGroup | None,
) -> bool:
    """Do the fault; whether there still was somebody to do it to."""
    victim = stage.tree(client.pid).pid(trial.victim)
    if victim is None or injection.state(victim) in (None, "Z"):
        return False
    if trial.kind in _SIGNALS:
        return injection.send(victim, _SIGNALS[trial.kind])
    if trial.kind == "stop":
        # A user's shell stops the client, and lets it go on; nobody does that for the others.
        return injection.freeze(victim, random.uniform(0.1, 2.0) if trial.victim == "client" else None)
    if trial.kind == "memory":
        return group is not None and group.run_out(victim)
    open_ = injection.sockets(victim)
    return bool(open_) and injection.shut_down(victim, random.choice(open_))


def _phase(stage: Stage) -> str:
    if _directory(stage) is None:
        return "before"
    with suppress(OSError, ValueError):
        return "running" if ending.read(_directory(stage)).is_running else "after"
    return "running"


def _start(stage: Stage, *arguments: str) -> "subprocess.Popen[bytes]":
    """A command whose output is kept in a file."""
    with (stage.path / "said").open("ab") as said:
        return stage.start(*arguments, stdin=subprocess.DEVNULL, stdout=said, stderr=said)


def _wait(process: "subprocess.Popen[bytes]") -> int | None:
    try:
        return process.wait(ENDED_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def _is_over(stage: Stage) -> bool:
    directory = _directory(stage)
    return directory is None or is_settled(directory)


def _examine(stage: Stage, trial: Trial) -> None:
    """What the run directory says, and whether results can be made of it."""
    directory = _directory(stage)
    if directory is None:
        # The command ended before there was a run: its own words are all there is.
        trial.status, trial.phase = "none", "before"
        trial.reason = (stage.path / "said").read_text(errors="replace").strip().splitlines()[-1:] or ""
        trial.reason = trial.reason[0] if trial.reason else f"the command ended with {trial.exit_code}"
        return
    found = ending.read(directory)
    written = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    trial.status, trial.reason = found.status, found.reason or ""
    trial.warnings = "; ".join(written.get("warnings", []))
    trial.ended = not found.is_running and bool(found.reason) and trial.exit_code is not None
    said = f"{trial.reason}; {trial.warnings}"
    trial.named = trial.victim in said or (trial.kind == "disk" and "No space left" in said)
    # What `longhaul report` does.
    with _REPORTING:
        write_again(directory)
    summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    trial.rows = pq.read_table(directory / "links.parquet").num_rows
    state = summary["outcome"]["state"]
    # Whatever failed on the way, it must not be called well.
    is_told = state == "crashed" if found.status == "crashed" else state != "running"
    settled = json.loads((directory / "run.json").read_text(encoding="utf-8"))["status"]
    trial.readable = is_told and settled == found.status and (directory / "report.html").is_file()


def as_row(trial: Trial) -> dict[str, Any]:
    """For a CSV file, without where control groups and temporary files are on this machine."""
    row = {name: getattr(trial, name) for name in COLUMNS}
    return {name: _PLACES.sub("", value) if isinstance(value, str) else value for name, value in row.items()}


def of_row(row: dict[str, str]) -> Trial:
    """From a CSV file."""
    empty = Trial(0, 0, "", "", "", 0.0)
    found: dict[str, Any] = {}
    for name, text in row.items():
        kind = int if name == "exit_code" else type(getattr(empty, name))
        found[name] = text == "True" if kind is bool else None if not text and kind is int else kind(text)
    return Trial(**found)
