"""A thousand kills: commands of every kind, of each a random process at a random moment, three at once.

``make study-faults ARGS="--kills 1000"`` writes ``kills.csv``, ``kills.json`` and ``kills.md``. After each
kill every run directory must have an end with a reason, readable results and no verdict that is too good, and
nothing may be left that ``longhaul clean`` does not remove.
"""

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import injection
from injection import until
from stage import Stage, is_settled
from trials import SCENARIO as RUN

from longhaul.cli.regeneration import write_again
from longhaul.results import ending, run_record

SWEEP = """
version: 1
name: NAME
duration: 5s
params: {far: 10ms}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: $far, rate: 20Mbit, loss: 0.1%}}
traffic: {bulk: {kind: tcp, from: a, to: b}}
sweep: {axes: {far: [5ms, 10ms]}, repeat: 60}
"""
TRANSFERS = """
version: 1
name: NAME
duration: 6s
nodes: {src: {kind: host}, sink: {kind: host}}
links: {wan: {endpoints: [src, sink], delay: 2ms, rate: 50Mbit, queue: 1bdp}}
"""
REQUESTS = """
version: 1
requests: {r1: {from: src, to: sink, volume: 2MB, deadline: 20s, max_rate: 20Mbit}}
"""
BEGINNING_SHARE = 0.2
"""Of the kills; on a busy machine, most of them would else come before there is a run."""
PATIENCE_S = 90.0
FILES: Mapping[str, str] = {"run": RUN, "up": RUN, "ui": RUN, "sweep": SWEEP, "transfer": TRANSFERS}
GOOD = frozenset({"passed"})
"""States of an outcome that say that all went well."""
ROLES: Mapping[str, str] = {
    r"longhaul\.cli\.main \w+": "the command itself",
    r"longhaul\.page\.": "the page's process of a run",
    r"\"cwd\"|\.sock": "a process of the run: worker, supervisor, engine or observer",
    r"longhaul-transfers-|/agent": "a transfer agent",
    r"ping|sleep|iperf3": "a program of the run",
}
"""By a part of the command line; the first that is found."""
_WRITING = Lock()
"""Figures are drawn by one thread at a time."""


@dataclass(frozen=True)
class Product:
    """A command that is started, and how it is ended if it does not end by itself."""

    words: tuple[str, ...]
    begins_s: float
    """About how long it takes until there is a run directory."""
    lasts_s: float
    """About how long it runs from then on."""
    end: tuple[str, ...] = ()


PRODUCTS: Mapping[str, Product] = {
    "run": Product(("run", "faults.yaml", "--no-report"), 0.8, 1.7),
    "up": Product(("up", "faults.yaml", "--name", "faults"), 0.8, 3.0, ("down", "--name", "faults")),
    "relay": Product(
        ("relay", "--delay", "1ms", "--forward", "0=127.0.0.1:PORT", "--name", "faults"),
        0.8,
        2.0,
        ("down", "--name", "faults"),
    ),
    "sweep": Product(("sweep", "faults.yaml", "--workers", "2", "--metric", "flows.bulk.goodput"), 0.8, 1.5),
    "transfer": Product(
        (
            *("transfer", "run", "requests.yaml", "--scenario", "faults.yaml"),
            *("--policy", "greedy-min", "--no-report"),
        ),
        0.9,
        5.0,
    ),
    "ui": Product(("ui", "--no-open", "."), 1.5, 2.0),
}


def role(command: str) -> str:
    """What a process is, from its command line."""
    return next((text for pattern, text in ROLES.items() if re.search(pattern, command)), "a helper process")


@dataclass
class Kill:
    """A row of the table."""

    seed: int
    number: int
    product: str
    phase: str
    """``beginning``: so long after the start; ``running``: so long after there was a run directory."""
    moment_s: float
    victim: str = ""
    """The command line of the killed process, cut short; empty: everything had ended."""
    status: str = ""
    """How what ran ended; ``none``: there was no run directory yet."""
    reason: str = ""
    ended: bool = True
    """Whether every run directory has a status and a reason."""
    readable: bool = True
    """Whether results can be written from every run directory."""
    is_honest: bool = True
    """Whether no run whose process was killed before its end says that all went well without all results."""
    left: str = ""
    """What was there after ``longhaul clean``."""
    took_s: float = 0.0
    problem: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it is as it should be."""
        return self.ended and self.readable and self.is_honest and not self.left and not self.problem


COLUMNS = [each.name for each in fields(Kill)]


def perform(number: int, *, seed: int, folder: Path, port: int) -> Kill:
    """One kill, whose product, process and moment follow from ``seed``. Its files stay if it is not good."""
    random = Random(f"kill {seed}/{number}")
    name = tuple(PRODUCTS)[number % len(PRODUCTS)]
    product = PRODUCTS[name]
    begins = random.random() < BEGINNING_SHARE
    moment_s = random.uniform(0, product.begins_s if begins else product.lasts_s)
    kill = Kill(seed, number, name, "beginning" if begins else "running", round(moment_s, 3))
    place = folder / f"kill-{number:04d}"
    shutil.rmtree(place, ignore_errors=True)
    stage = Stage(place, f"kills{seed}x{number}")
    text = FILES.get(name, "").replace("NAME", stage.name)
    (place / "faults.yaml").write_text(text, encoding="utf-8")
    (place / "requests.yaml").write_text(REQUESTS, encoding="utf-8")
    began_s = time.monotonic()
    try:
        _kill(stage, kill, random, port)
    except Exception as error:  # noqa: BLE001 -- a trial that goes wrong is a row, too
        kill.problem = f"{type(error).__name__}: {error}"
    stage.kill()
    kill.took_s = round(time.monotonic() - began_s, 2)
    if kill.is_good:
        shutil.rmtree(place, ignore_errors=True)
    return kill


def _kill(stage: Stage, kill: Kill, random: Random, port: int) -> None:
    product = PRODUCTS[kill.product]
    words = [word.replace("PORT", str(port)) for word in product.words]
    said = (stage.path / "said").open("w+b")
    with said:
        process = stage.start(*words, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        busy = threading.Thread(target=_use, args=(stage, kill.product), daemon=True)
        busy.start()
        if kill.phase == "running":
            until(lambda: bool(_directories(stage)), within_s=PATIENCE_S / 3)
        time.sleep(kill.moment_s)
        running = _running(stage)
        there = injection.tagged(stage.tag)
        if there:
            victim = random.choice(there)
            kill.victim = role(" ".join(injection.command(victim)))
            injection.send(victim, signal.SIGKILL)
        if product.end:
            # Before the network is up, `up` has not ended.
            _wait(process if kill.product == "up" else None)
            _wait(stage.start(*product.end, stdout=said, stderr=said))
        if kill.product == "ui" and process.poll() is None:
            until(lambda: _is_over(stage), within_s=PATIENCE_S / 3)
            process.send_signal(signal.SIGTERM)
        _wait(process)
    until(lambda: _is_over(stage), within_s=PATIENCE_S)
    until(lambda: not injection.tagged(stage.tag), within_s=10)
    _wait(stage.start("clean", stdout=subprocess.DEVNULL))
    _examine(stage, kill, running if kill.victim else [])
    until(lambda: not stage.left(), within_s=5)
    kill.left = "; ".join(stage.left())


def _use(stage: Stage, product: str) -> None:
    """Give the product something to do, as its user would."""
    said = stage.path / "said"
    with suppress(OSError, http.client.HTTPException):
        if product == "relay" and until(lambda: b"relaying" in said.read_bytes(), within_s=10):
            found = re.search(rb":(\d+)\s", said.read_bytes().splitlines()[0] + b" ")
            with socket.create_connection(("127.0.0.1", int(found[1]) if found else 0), 5) as stream:
                for _ in range(1000):
                    stream.sendall(bytes(4096))
                    stream.recv(4096)
        if product == "ui" and until(lambda: b"#token=" in said.read_bytes(), within_s=10):
            found = re.search(rb"127\.0\.0\.1:(\d+)/#token=([\w-]+)", said.read_bytes())
            assert found is not None
            connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
            text = (stage.path / "faults.yaml").read_text(encoding="utf-8")
            body = json.dumps({"text": text, "mode": "live"})
            connection.request("POST", "/api/runs", body, {"Authorization": f"Bearer {found[2].decode()}"})
            connection.getresponse().read()


def _directories(stage: Stage) -> list[Path]:
    """Every directory of a run, relay or sweep, also of a sweep's runs."""
    return sorted(each for each in stage.runs.glob("*/2*") if run_record.path_of(each) is not None)


def _running(stage: Stage) -> list[Path]:
    """Those that have no end yet."""
    found = []
    for each in _directories(stage):
        with suppress(OSError, ValueError):
            if ending.read(each).is_running:
                found.append(each)
    return found


def _is_over(stage: Stage) -> bool:
    return all(is_settled(each) for each in _directories(stage))


def _wait(process: "subprocess.Popen[Any] | None") -> None:
    if process is None:
        return
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _examine(stage: Stage, kill: Kill, running: list[Path]) -> None:
    """Whether each run directory ended with a reason, can be read, and is not called better than it was."""
    kill.status = "none"
    for directory in _directories(stage):
        with _WRITING:
            write_again(directory)
        found = ending.read(directory)
        kill.status, kill.reason = found.status, found.reason or ""
        kill.ended &= not found.is_running and bool(found.reason)
        summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
        kill.readable &= (directory / "summary.json").is_file()
        if directory in running:
            kill.is_honest &= _is_honest(summary, found.status, kill)


def _is_honest(summary: Mapping[str, Any], status: str, kill: Kill) -> bool:
    """Whether what is said of a run agrees with how it ended."""
    if kill.product == "sweep":
        # A worker that is killed costs time alone: a sweep that is done has all its runs.
        return status != "done" or (summary["points"] == 120 and not summary["failed"])
    state = summary["outcome"]["state"]
    return state not in GOOD or status not in ("crashed", "failed", "interrupted")


def table(kills: list[Kill]) -> str:
    """Markdown: a row for each kind of command."""
    heads = ["command", "kills", "process was there", "with a run directory", "ended with a reason"]
    heads += ["readable", "no false verdict", "nothing left"]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name in (*PRODUCTS, ""):
        found = [each for each in kills if not name or each.product == name]
        runs = [each for each in found if each.status != "none"]
        counts = (
            len(found),
            sum(bool(each.victim) for each in found),
            len(runs),
            *(
                f"{sum(truth(each) for each in some)} of {len(some)}"
                for truth, some in (
                    (lambda each: each.ended, runs),
                    (lambda each: each.readable, runs),
                    (lambda each: each.is_honest, runs),
                    (lambda each: not each.left, found),
                )
            ),
        )
        cells = [f"`{name}`" if name else "**all**", *map(str, counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


@contextmanager
def echo() -> Iterator[int]:
    """A server at a port of loopback that sends back what it gets: where relays lead to."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve(stream: socket.socket) -> None:
        with stream, suppress(OSError):
            while data := stream.recv(4096):
                stream.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                stream, _ = server.accept()
                threading.Thread(target=serve, args=(stream,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with server:
        yield server.getsockname()[1]


def as_row(kill: Kill, clean: Callable[[str], str]) -> dict[str, Any]:
    """For a CSV file; ``clean`` removes what only this machine has."""
    row = {name: getattr(kill, name) for name in COLUMNS}
    return {name: clean(value) if isinstance(value, str) else value for name, value in row.items()}
