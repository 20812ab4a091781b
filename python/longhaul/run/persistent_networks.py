"""Networks that stay up: start, enter, stop."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul import processes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import ending
from longhaul.run import cleanup, run_discovery, session, signals, sockets
from longhaul.subprocesses import command_elsewhere, program, python_command

if TYPE_CHECKING:
    from longhaul.run.virtual_clock import Clock, PlaceHosts

_ENDED_WITHIN_S = 60.0
_BETWEEN_LOOKS_S = 0.02


@dataclass(frozen=True)
class Standing:
    """A network that is up."""

    name: str
    directory: Path
    hosts: int
    seconds: float
    """How long bringing it up took."""


def bring_up(
    scenario: Path,
    *,
    settings: Mapping[str, str],
    name: str | None,
    runs: Path,
    argv: list[str],
    sudo: bool = False,
    prometheus: str | None = None,
    memory_bytes: int | None = None,
    clock: "Clock" = "real",
    kernel: str | None = None,
    place: "PlaceHosts | None" = None,
) -> Standing:
    """Bring a scenario up and leave it up; at ``prometheus`` (ADDRESS:PORT), metrics are served.

    It ends as failed when it uses more than ``memory_bytes`` of memory, by default half of what is free. On
    the ``virtual`` clock, every host runs a Linux of its own, of version ``kernel`` if one is given, on the
    machine where ``place`` puts it.
    """
    from longhaul.run import exporter, live, memory
    from longhaul.run.announcement import announce, announce_live
    from longhaul.run.virtual_clock import clock_of
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings))
    virtual = clock_of(clock, resolved.scenario, kernel)
    (announce_live if virtual is None else announce)(resolved)
    called = name or resolved.plan["name"]
    with sockets.claimed(called) as path:
        listener = exporter.listen(prometheus) if prometheus else None
        prepared = live.prepare(resolved, runs=runs, argv=argv, sudo=sudo, clock=virtual)
        memory.warn(resolved, memory_bytes)
        guests: AbstractContextManager[dict[str, Any] | None]
        guests = nullcontext()
        if virtual is not None:
            if place is not None:
                virtual = replace(virtual, remote_machines=place(prepared.resolved, prepared.resolved.plan))
            guests = virtual.standing_orders(prepared.resolved.plan, prepared.directory)
        with ending.recorded(prepared.directory), guests as kernels:
            running = session.Session(
                prepared.plan,
                prepared.directory,
                run=prepared.run,
                keep=True,
                socket_path=path,
                sudo=sudo,
                memory_bytes=memory.limit_of(memory_bytes),
                foreign=prepared.foreign,
                kernel=kernels,
                scratch=[Path(kernels["directory"])] if kernels else [],
            )
            try:
                if kernels:
                    cleanup.hand_over(Path(kernels["directory"]), running.pid)
                built = running.wait_for("up")
                running.wait_for("started")
                if listener is not None:
                    exporter.serve_apart(listener, prepared.directory, path)
                running.detach()
            except BaseException:
                # Nobody would know that it is up.
                running.kill()
                raise
    hosts = sum(node["kind"] == "host" for node in prepared.resolved.plan["nodes"])
    return Standing(called, prepared.directory, hosts, built["build_ns"] / 1e9)


def take_down(name: str | None) -> Path:
    """Take a network down; returns its run directory, which holds raw records alone.

    One whose socket is gone is found by its processes.
    """
    if name is not None and not sockets.is_alive(sockets.socket_path(name)):
        running = run_discovery.at(sockets.socket_path(name))
        if running is not None:
            running.end(within_s=_ENDED_WITHIN_S)
            _wait_for_ending(running.directory)
            return running.directory
    path = sockets.find(name)
    line = session.connect(path)
    line.tell({"do": "hosts"})
    answer = line.hear(session.PATIENCE_S)
    if answer is not None and not answer.get("ok", True):
        line.close()
        raise LonghaulError(Code.RUN_REQUEST_REFUSED, str(answer.get("message")), exit_code=2)
    line.tell({"do": "stop"})
    while line.hear(60.0) is not None:
        pass
    line.close()
    if answer is None:
        raise LonghaulError(Code.RUN_UNRESPONSIVE, "the run ended instead of answering", exit_code=1)
    directory = Path(answer["env"]["LONGHAUL_RUN"])
    _wait_for_ending(directory)
    return directory


def _wait_for_ending(directory: Path) -> None:
    """Until the last process of a run has written how it ended."""
    until_s = time.monotonic() + _ENDED_WITHIN_S
    while ending.settle(directory).is_running and time.monotonic() < until_s:
        time.sleep(_BETWEEN_LOOKS_S)
    run_discovery.end_exporters([directory])


def run_in_host(name: str | None, host: str, argv: Sequence[str]) -> int:
    """Run a command in a host, with this process's terminal, and return its exit code."""
    return run_in_host_at(sockets.find(name), host, argv)


def enterable_host(path: Path, host: str) -> tuple[int, session.Message]:
    """The supervisor of the run whose socket is ``path``, and what it says of its hosts.

    Raises LonghaulError if commands cannot run in ``host``.
    """
    supervisor, answer = session.hosts_of(path)
    hosts = answer.get("hosts")
    if hosts is None:
        raise LonghaulError(Code.RUN_REQUEST_REFUSED, str(answer.get("message")), exit_code=2)
    if not hosts:
        message = f"{path.stem} is a relay, which has no hosts"
        raise LonghaulError(
            Code.RUN_REQUEST_REFUSED, message, remedy="run the command yourself, by its gateway", exit_code=2
        )
    if host not in hosts:
        raise LonghaulError(Code.NODE_UNKNOWN, unknown("host", host, hosts), exit_code=2)
    return supervisor, answer


def run_in_host_at(path: Path, host: str, argv: Sequence[str]) -> int:
    """The same for the run whose socket is ``path``."""
    supervisor, answer = enterable_host(path, host)
    if answer.get("clock") == "virtual":
        from longhaul.run.guest_command import run_in_guest

        return run_in_guest(path, host, argv)
    from longhaul import _longhaul

    if (place := answer.get("elsewhere", {}).get(host)) is not None:
        return _run_elsewhere(place, host, argv)
    if os.geteuid() != 0 and processes.owner(supervisor) == 0:
        # Started by sudo: root alone may enter its hosts.
        return _run_as_root(path, host, argv)
    hostname = answer.get("hostnames", {}).get(host, host)
    # Of a host with a root directory of its own.
    own_path = answer.get("search_paths", {}).get(host)
    try:
        with signals.left_to_the_command():
            return _longhaul.run_in_host(
                supervisor=supervisor,
                namespaces=answer["hosts"][host],
                argv=list(argv),
                env={
                    **answer["env"],
                    "PATH": own_path or session.search_path(),
                    "LONGHAUL_HOST": host,
                    "HOSTNAME": hostname,
                },
                cwd="/" if own_path else str(Path.cwd()),
                cgroups=[str(Path(each) / host) for each in answer.get("cgroups") or ()],
                credentials=json.dumps(answer["credentials"][host]),
                strict=answer.get("isolation") == "strict",
            )
    except _longhaul.LiveError as error:
        remedy = error.remedy or "enter it as the user who brought it up"
        raise LonghaulError(Code.MACHINE_UNABLE, error.message, remedy=remedy, exit_code=3) from error


def _run_as_root(path: Path, host: str, argv: Sequence[str]) -> int:
    """The same by sudo, which may ask for a password."""
    command = python_command("longhaul.run.host_command", str(path.absolute()), host, *argv)
    return _exit_code([program("sudo"), "--", *command])


def _run_elsewhere(place: Mapping[str, Any], host: str, argv: Sequence[str]) -> int:
    """The same for a host on another machine, which ``place`` tells how to reach."""
    words = [*place["interpreter"], "-I", "-m", "longhaul.run.host_command", place["socket"], host, *argv]
    command = place["terminal_command" if sys.stdin.isatty() else "command"]
    try:
        return _exit_code(command_elsewhere(command, words, has_shell=place["has_shell"]))
    except OSError as error:
        raise LonghaulError(
            Code.CLUSTER_UNREACHABLE,
            f"machine {place['machine']}: cannot start {error.filename}: {error.strerror}",
            exit_code=3,
        ) from error


def _exit_code(command: Sequence[str]) -> int:
    """Run a command with this process's terminal, and return its exit code as a shell has it."""
    with signals.shared_with_the_command():
        code = subprocess.call(command)
    return 128 - code if code < 0 else code


def ask_status(name: str | None) -> dict[str, Any]:
    """How a run is doing."""
    return session.ask(sockets.find(name), {"do": "status"})


def unknown(kind: str, name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """A message for a name that does not exist, with the nearest that does."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    hint = f'; did you mean "{near[0]}"?' if near else f"; there are: {', '.join(list(known)[:12])}"
    return f'there is no {kind} "{name}"{hint}'
