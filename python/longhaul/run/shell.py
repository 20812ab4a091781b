"""``longhaul shell``: two hosts, one link, one command."""

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longhaul.results import ending
from longhaul.run import live, session, sockets
from longhaul.run.announcement import announce_live
from longhaul.run.cleanup import temporary_prefix
from longhaul.run.conclusion import conclude, exit_code, results_so_far
from longhaul.run.persistent_networks import run_in_host_at

FAR = 1
"""Position of far among the nodes."""


@dataclass(frozen=True)
class Flags:
    """What the command line says in place of a scenario; values keep their spelling, and errors quote it."""

    delay: str
    jitter: str | None
    rate: str | None
    loss: str | None
    queue: str | None
    duplicate: str | None
    mtu: int
    cc: str | None
    seed: int
    compensate: bool
    isolation: str
    far_command: str | None


def run_shell(
    command: Sequence[str],
    flags: Flags,
    *,
    argv: list[str],
    internet: bool,
    strict: bool,
    runs: Path | None,
    shown: Callable[[Path, Mapping[str, Any]], None],
) -> int:
    """Run ``command`` on host near and return its exit code, or 4 if it meant nothing.

    ``shown`` is given the run directory and the summary before a temporary directory is removed.
    """
    from longhaul.scenario import parse_scenario, resolve

    resolved = resolve(parse_scenario(scenario_text(flags).encode(), name="shell flags"))
    words = list(command) or [os.environ.get("SHELL", "/bin/sh")]
    announce_live(resolved, words)
    if internet:
        from longhaul.run.internet import require

        require()
        resolved = replace(resolved, plan={**resolved.plan, "gateway": FAR})
    with _run_directory(runs) as root:
        prepared = live.prepare(resolved, runs=root, argv=argv)
        path = sockets.socket_path(prepared.run)
        kept = results_so_far(prepared.directory, report=runs is not None)
        with ending.recorded(prepared.directory), kept:
            running = session.Session(
                prepared.plan,
                prepared.directory,
                run=prepared.run,
                keep=True,
                socket_path=path,
                scratch=[root] if runs is None else [],
            )
            try:
                running.wait_for("started")
                code = _run_command(running, path, words, internet=internet)
            finally:
                running.kill()
        summary = conclude(prepared.directory, reason="stopped", report=runs is not None, strict=strict)
        shown(prepared.directory, summary)
        return code or exit_code(summary)


def _run_command(running: session.Session, path: Path, words: Sequence[str], *, internet: bool) -> int:
    """Run a command on host near until it or the run ends; returns its exit code."""
    try:
        if internet:
            from longhaul.run.internet import outside

            with outside(path, gateway="far", emulated="10.0.0.0/8"):
                code = run_in_host_at(path, "near", words)
        else:
            code = run_in_host_at(path, "near", words)
    except KeyboardInterrupt as interruption:
        running.stop(status=ending.INTERRUPTED, why=str(interruption) or None)
        running.wait_for("ended")
        raise
    running.stop(why="its command has ended")
    running.wait_for("ended")
    return code


def scenario_text(flags: Flags) -> str:
    """The same as a scenario: hosts ``near`` and ``far``, and the link ``wan``."""
    link = ["endpoints: [near, far]", f"mtu: {flags.mtu}"]
    if flags.jitter:
        link.append(f"delay: {{base: {flags.delay}, jitter: {{dist: normal, sd: {flags.jitter}}}}}")
    else:
        link.append(f"delay: {flags.delay}")
    for key in ("rate", "loss", "queue", "duplicate"):
        if value := getattr(flags, key):
            link.append(f"{key}: {value}")
    lines = [
        "version: 1",
        "name: shell",
        f"seed: {flags.seed}",
        *(["compensate: true"] if flags.compensate else []),
        f"isolation: {flags.isolation}",
        *([f"tcp: {{congestion_control: {flags.cc}}}"] if flags.cc else []),
        "nodes:",
        "  near: {kind: host}",
        "  far: {kind: host}",
        "links:",
        "  wan:",
        *(f"    {line}" for line in link),
    ]
    if flags.far_command:
        quoted = flags.far_command.replace("'", "''")
        words = shlex.split(flags.far_command)
        lines += [
            "programs:",
            f"  far: {{run: '{quoted}', host: far, service: true, expect_exit: 0{_readiness(words)}}}",
        ]
    return "\n".join(lines) + "\n"


def _readiness(words: Sequence[str]) -> str:
    """Wait for servers that we know; others are given no time."""
    if words and Path(words[0]).name == "iperf3" and "-s" in words:
        port = words[words.index("-p") + 1] if "-p" in words[:-1] else "5201"
        return f", ready: 'tcp:{port}'"
    return ""


@contextmanager
def _run_directory(runs: Path | None) -> Iterator[Path]:
    if runs is not None:
        yield runs
        return
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("shell")) as temporary:
        yield Path(temporary)
