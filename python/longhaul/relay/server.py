"""One process of a relay, from the resolved scenario to its results."""

import errno
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Self, cast

from longhaul import _longhaul
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.regular_files import read_regular
from longhaul.relay.results import exit_code, write_results
from longhaul.relay.wrappers import Chain, Wrapper
from longhaul.results import directory as directories
from longhaul.results import ending
from longhaul.results.ending import Ending
from longhaul.run import run_discovery, signals, sockets
from longhaul.scenario import Resolved
from longhaul.scenario.lower.relay import RelayPlan, plan_relay
from longhaul.storage import replace_json


@dataclass(frozen=True)
class Opened:
    """Something that listens."""

    kind: str
    """``socks``, ``forward``, ``datagrams`` or ``transparent``."""
    address: str
    """With the port that it has."""
    source: str | None
    """The cluster whose machines connect there; ``None``: their addresses tell."""
    target: str | None
    """Where a forward leads."""

    @property
    def place(self) -> tuple[str, int]:
        """The same for ``socket.create_connection``."""
        host, _, port = self.address.rpartition(":")
        return host.removeprefix("[").removesuffix("]"), int(port)

    @classmethod
    def parse(cls, text: str) -> Self:
        """What ``str`` has written, as ``run.json`` lists it."""
        listens, _, target = text.partition(" -> ")
        kind, address, *source = listens.split(" ", 2)
        return cls(kind, address, source[0].strip("()") if source else None, target or None)

    def __str__(self) -> str:
        """``forward 127.1.0.1:15201 (tromso) -> 127.2.0.11:5201``."""
        whose = f" ({self.source})" if self.source else ""
        return f"{self.kind} {self.address}{whose}" + (f" -> {self.target}" if self.target else "")


@dataclass(frozen=True)
class Served:
    """A relay that has ended."""

    directory: Path
    summary: dict[str, Any]
    exit_code: int


@dataclass(frozen=True)
class Order:
    """How a relay is to be run."""

    runs: Path
    argv: Sequence[str]
    gateway: str | None = None
    """The cluster whose gateway this is; ``None``: all in one."""
    name: str | None = None
    """What ``set``, ``status`` and ``down`` call it."""
    duration_ns: int | None = None
    messages: bool = True
    """Whether messages are logged, if the scenario does not forbid it."""
    strict: bool = False


Told = Callable[[list[Opened]], None]


def serve(
    resolved: Resolved,
    order: Order,
    *,
    told: Told,
    wrappers: Sequence[Wrapper] = (),
    stop: int | None = None,
) -> Served:
    """Relay until a signal, ``longhaul down``, the end of the duration, or a byte at descriptor ``stop``.

    ``told`` is called when everything listens. Raises LonghaulError for what this machine cannot do.
    """
    planned, complete = checked_plan(resolved, order)
    called = name_of(resolved, order)
    with ExitStack() as stack:
        path = stack.enter_context(sockets.claimed(called))
        directory = directories.create(
            order.runs,
            planned.plan["name"],
            mode="relay",
            source=resolved.source,
            plan=cast("Plan", planned.plan),
            argv=list(order.argv),
            files=resolved.files(),
        )
        with ending.recorded(directory), _signals() as received:
            directories.update_run(directory, socket=str(path))
            replace_json(directory / "raw" / "expectations.json", list(resolved.expectations))
            result, ended = _relay(
                planned, complete, directory, path, received=received, told=told, wrappers=wrappers, stop=stop
            )
            stack.close()
            received.results_are_written = True
            return _concluded(directory, result, ended, order)


def checked_plan(resolved: Resolved, order: Order) -> tuple[RelayPlan, str]:
    """The plan of a relay, and the same with its password, as JSON. Raises LonghaulError if it cannot run."""
    planned = _ordered(plan_relay(resolved, gateway=order.gateway), order)
    password = read_password(planned.password_file, resolved)
    complete = json.dumps(planned.with_password(password))
    try:
        _longhaul.check_relay_plan(complete)
    except _longhaul.InvalidValueError as error:
        message = f"the relay cannot be run: {error.message}"
        raise LonghaulError(Code.RELAY_INCOMPLETE, message, remedy=error.remedy, exit_code=2) from error
    return planned, complete


def _relay(
    planned: RelayPlan,
    complete: str,
    directory: Path,
    path: Path,
    *,
    received: "_ReceivedSignals",
    told: Told,
    wrappers: Sequence[Wrapper],
    stop: int | None,
) -> tuple[dict[str, Any], Ending]:
    """Relay as ``complete`` says, steered at the socket ``path``; returns what was done and why it ended."""
    run_discovery.call_relay()

    def ready(text: str) -> None:
        opened = _opened(planned, json.loads(text))
        directories.update_run(directory, listening=[str(each) for each in opened])
        told(opened)

    token = sockets.new_token(path)
    try:
        with Chain.of(wrappers, planned, directory) as chain, sockets.short(path) as short:
            result = json.loads(
                _run_gateway(
                    complete,
                    # What it is asked from another working directory.
                    directory=str(directory.resolve()),
                    socket=short,
                    token=token,
                    stop=received.wakes if stop is None else stop,
                    ready=ready,
                    wrapper=chain.call if wrappers else None,
                )
            )
    finally:
        sockets.remove(path)
    if result.get("reason") == "duration":
        return result, Ending("duration")
    # Who sets no end ends it with Ctrl-C; who sets one interrupts it so.
    first = received.first
    is_early = first is not None and planned.plan["duration_ns"] is not None
    return result, Ending(
        "interrupted" if is_early else "stopped", None if first is None else signals.reason(first)
    )


_LONGEST_PASSWORD = 1 << 12
"""Bytes of a password file that are read."""


def _run_gateway(complete: str, **options: Any) -> str:
    """Run the gateway until it ends. Raises LonghaulError if the system refuses to listen."""
    try:
        return _longhaul.run_relay(complete, **options)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0)
        message = error.strerror or str(error)
        raise LonghaulError(Code.MACHINE_UNABLE, message, remedy=remedy, exit_code=3) from error


_REMEDIES = {
    errno.EADDRINUSE: "end what listens there, or choose another port",
    errno.EADDRNOTAVAIL: (
        "a gateway's address must be one of this machine's; gateways on others need --gateway"
    ),
    errno.EACCES: "choose a port from 1024 on",
}
"""What to do if the system refuses to listen."""


def name_of(resolved: Resolved, order: Order) -> str:
    """What ``set``, ``status`` and ``down`` call a relay."""
    return order.name or "-".join(filter(None, (resolved.plan["name"], order.gateway)))


def read_password(file: str | None, resolved: Resolved) -> str | None:
    """The first line of the password file, which lies beside the scenario; raises LonghaulError."""
    if file is None:
        return None
    path = Path(resolved.scenario.source.name).parent / file
    try:
        password = read_regular(path, most_bytes=_LONGEST_PASSWORD).decode().partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise LonghaulError(
            Code.PASSWORD_INVALID, f"cannot read the password in {path}: {why}", exit_code=2
        ) from error
    if not 1 <= len(password.encode()) <= 255:
        message = f"the first line of {path} has {len(password.encode())} bytes"
        raise LonghaulError(
            Code.PASSWORD_INVALID, message, remedy="a password has 1 to 255 (RFC 1929)", exit_code=2
        )
    return password


def _ordered(planned: RelayPlan, order: Order) -> RelayPlan:
    """The plan with what the command line says of it."""
    plan = dict(planned.plan)
    if order.duration_ns is not None:
        plan["duration_ns"] = order.duration_ns
    if not order.messages:
        plan["log"] = {**plan["log"], "messages": False}
    return RelayPlan(plan, planned.clusters, planned.password_file, planned.warnings)


def _opened(planned: RelayPlan, real: Sequence[dict[str, Any]]) -> list[Opened]:
    listeners = planned.plan["listeners"]
    return [describe_listener(planned, listeners[each["listener"]], each["address"]) for each in real]


def describe_listener(planned: RelayPlan, listener: Mapping[str, Any], address: str | None = None) -> Opened:
    """A listener of the plan at ``address``, or at that of the plan, whose port may be 0."""
    source = listener.get("from")
    return Opened(
        listener["kind"],
        address or listener["address"],
        None if source is None else planned.clusters[source].name,
        listener.get("target"),
    )


def _concluded(directory: Path, result: dict[str, Any], ended: Ending, order: Order) -> Served:
    # A relay starts sooner without what its report needs.
    from longhaul.relay.report import write_relay_report

    try:
        replace_json(directory / "raw" / "relay.json", result)
        replace_json(directory / "raw" / "ended.json", {"ended": ended.status, "reason": ended.reason})
        strict = {"strict": True} if order.strict else {}
        directories.update_run(directory, **strict)
        summary = write_results(directory)
        write_relay_report(directory)
        ending.end(directory, ended.status, ended.reason)
    except OSError as error:
        for half in (*directory.glob("*.parquet"), directory / "fidelity.json", directory / "summary.json"):
            half.unlink(missing_ok=True)
        connections = result["connections"]
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"relayed {result['bytes']} bytes of {connections['accepted']} connections, but cannot write the "
            f"results in {directory}: {error.strerror}",
            remedy="make room, name another place with --runs, or leave the log out with --no-log",
            exit_code=4,
        ) from error
    return Served(directory, summary, exit_code(summary))


_ONE_INTERRUPT_S = 1.0
"""Signals so soon after the first are the same interrupt: the kernel repeats that of a parent's end."""


@dataclass
class _ReceivedSignals:
    """Signals that came to a relay."""

    wakes: int
    """A descriptor that can be read from when one has come."""
    first: int | None = None
    first_s: float = 0.0
    results_are_written: bool = False
    """From then on, another interrupt ends the relay without its results."""

    def take(self, number: int, _frame: FrameType | None) -> None:
        now_s = time.monotonic()
        is_another = self.first is None or now_s - self.first_s > _ONE_INTERRUPT_S
        if self.results_are_written and is_another:
            raise KeyboardInterrupt(signals.reason(number))
        if self.first is None:
            self.first, self.first_s = number, now_s


@contextmanager
def _signals() -> Iterator[_ReceivedSignals]:
    """SIGINT, SIGTERM and SIGHUP end the gateway, and not this process, within the block."""
    wakes, writes = os.pipe()
    os.set_blocking(writes, False)
    received = _ReceivedSignals(wakes)
    ours = threading.current_thread() is threading.main_thread()
    try:
        with signals.handled(received.take):
            waking = signal.set_wakeup_fd(writes, warn_on_full_buffer=False) if ours else -1
            try:
                yield received
            finally:
                if ours:
                    signal.set_wakeup_fd(waking)
    finally:
        os.close(wakes)
        os.close(writes)
