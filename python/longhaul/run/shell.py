"""``longhaul shell``: two hosts, one link, one command."""

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from longhaul.results import ending
from longhaul.run import live, session, sockets
from longhaul.run.cleanup import temporary_prefix
from longhaul.run.conclusion import conclude, exit_code, results_so_far
from longhaul.run.persistent_networks import run_in_host_at

FAR = 1
"""Position of far among the nodes."""


def run_shell(
    command: Sequence[str],
    *,
    argv: list[str],
    delay: str,
    jitter: str | None,
    rate: str | None,
    loss: str | None,
    queue: str | None,
    duplicate: str | None,
    mtu: int,
    cc: str | None,
    seed: int,
    compensate: bool,
    isolation: str,
    far_command: str | None,
    internet: bool,
    strict: bool,
    runs: Path | None,
    shown: Callable[[Path, Mapping[str, Any]], None],
) -> int:
    """Run ``command`` on host near and return its exit code, or 4 if it meant nothing.

    ``shown`` is given the run directory and the summary before a temporary directory is removed.
    """
    from longhaul.scenario import parse_scenario, resolve

    text = scenario_text(
        delay=delay,
        jitter=jitter,
        rate=rate,
        loss=loss,
        queue=queue,
        duplicate=duplicate,
        mtu=mtu,
        cc=cc,
        seed=seed,
        compensate=compensate,
        isolation=isolation,
        far_command=far_command,
    )
    resolved = resolve(parse_scenario(text.encode(), name="shell flags"))
    words = list(command) or [os.environ.get("SHELL", "/bin/sh")]
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


def scenario_text(
    *,
    delay: str,
    jitter: str | None,
    rate: str | None,
    loss: str | None,
    queue: str | None,
    duplicate: str | None,
    mtu: int,
    cc: str | None,
    seed: int,
    compensate: bool,
    isolation: str,
    far_command: str | None,
) -> str:
    """The scenario that a shell's flags describe; flags keep their spelling, so errors quote them."""
    link = ["endpoints: [near, far]", f"mtu: {mtu}"]
    if jitter:
        link.append(f"delay: {{base: {delay}, jitter: {{dist: normal, sd: {jitter}}}}}")
    else:
        link.append(f"delay: {delay}")
    for key, value in (("rate", rate), ("loss", loss), ("queue", queue), ("duplicate", duplicate)):
        if value:
            link.append(f"{key}: {value}")
    lines = [
        "version: 1",
        "name: shell",
        f"seed: {seed}",
        *(["compensate: true"] if compensate else []),
        f"isolation: {isolation}",
        *([f"tcp: {{congestion_control: {cc}}}"] if cc else []),
        "nodes:",
        "  near: {kind: host}",
        "  far: {kind: host}",
        "links:",
        "  wan:",
        *(f"    {line}" for line in link),
    ]
    if far_command:
        quoted = far_command.replace("'", "''")
        words = shlex.split(far_command)
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
