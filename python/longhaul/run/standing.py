"""Networks that stay up: brought up, entered, taken down."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.errors import LonghaulError
from longhaul.run import ending, finding, session, signals, state

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
) -> Standing:
    """Bring a scenario up and leave it up; at ``prometheus`` (ADDRESS:PORT), metrics are served."""
    from longhaul.run import exporter, live
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings))
    called = name or resolved.plan["name"]
    with state.claimed(called) as path:
        listener = exporter.listen(prometheus) if prometheus else None
        prepared = live.prepare(resolved, runs=runs, argv=argv)
        with ending.recorded(prepared.directory):
            running = session.Session(
                prepared.plan, prepared.directory, run=prepared.run, keep=True, socket_path=path, sudo=sudo
            )
            try:
                built = running.wait_for("up")
                running.wait_for("started")
                if listener is not None:
                    exporter.serve_apart(listener, prepared.directory, path)
                running.detach()
            except BaseException:
                # Nobody would know that it is up.
                running.kill()
                raise
    return Standing(called, prepared.directory, int(built["hosts"]), built["build_ns"] / 1e9)


def take_down(name: str | None, *, as_json: bool = False) -> int:
    """Take a network down, write and print its results, and return the exit code of its run."""
    from longhaul.run import directory as directories
    from longhaul.run import experiment

    directory = end(name)
    if directories.read_run(directory)["mode"] == "relay":
        from longhaul.run.relay.results import show_ended

        return show_ended(directory, as_json=as_json)
    return experiment.conclude_ended(directory, as_json=as_json)


def end(name: str | None) -> Path:
    """Take a network down; returns its run directory, which holds raw records alone.

    One whose socket is gone is found by its processes.
    """
    if name is not None and not state.is_alive(state.socket_path(name)):
        running = finding.at(state.socket_path(name))
        if running is not None:
            running.end(within_s=_ENDED_WITHIN_S)
            _wait_for_ending(running.directory)
            return running.directory
    path = state.find(name)
    line = session.connect(path)
    line.tell({"do": "hosts"})
    answer = line.hear(15.0)
    if answer is not None and not answer.get("ok", True):
        line.close()
        raise LonghaulError(str(answer.get("message")), exit_code=2)
    line.tell({"do": "stop"})
    while line.hear(60.0) is not None:
        pass
    line.close()
    if answer is None:
        raise LonghaulError("the run ended instead of answering", exit_code=1)
    directory = Path(answer["env"]["LONGHAUL_RUN"])
    _wait_for_ending(directory)
    return directory


def _wait_for_ending(directory: Path) -> None:
    """Until the last process of a run has written how it ended."""
    until_s = time.monotonic() + _ENDED_WITHIN_S
    while ending.settle(directory).is_running and time.monotonic() < until_s:
        time.sleep(_BETWEEN_LOOKS_S)
    finding.end_exporters([directory])


def run_in_host(name: str | None, host: str, argv: Sequence[str]) -> int:
    """Run a command in a host, with this process's terminal, and return its exit code."""
    return run_in_host_at(state.find(name), host, argv)


def run_in_host_at(path: Path, host: str, argv: Sequence[str]) -> int:
    """The same for the run whose socket is ``path``."""
    from longhaul import _longhaul

    line = session.connect(path)
    supervisor = line.peer()
    line.tell({"do": "hosts"})
    answer = line.hear(15.0)
    line.close()
    if answer is None:
        raise LonghaulError("the run ended instead of answering", exit_code=1)
    hosts = answer["hosts"]
    if not hosts:
        message = f"{path.stem} is a relay, which has no hosts"
        raise LonghaulError(message, remedy="run the command yourself, by its gateway", exit_code=2)
    if host not in hosts:
        raise LonghaulError(unknown("host", host, hosts), exit_code=2)
    groups = answer.get("cgroups")
    try:
        with signals.left_to_the_command():
            return _longhaul.run_in_host(
                supervisor=supervisor,
                namespaces=hosts[host],
                argv=list(argv),
                env={**answer["env"], "PATH": session.search_path(), "LONGHAUL_HOST": host, "HOSTNAME": host},
                cwd=str(Path.cwd()),
                cgroup=str(Path(groups) / host) if groups else None,
                strict=answer.get("isolation") == "strict",
            )
    except RuntimeError as error:
        raise LonghaulError(
            str(error), remedy="enter it as the user who brought it up", exit_code=3
        ) from error


def ask_status(name: str | None) -> dict[str, Any]:
    """How a run is doing."""
    return session.ask(state.find(name), {"do": "status"})


def describe_status(answer: Mapping[str, Any]) -> str:
    """The same in words, one thing a line."""
    if "relay" in answer:
        from longhaul.run.relay.results import describe_counters

        return describe_counters(str(answer["name"]), answer["relay"])
    engine = answer["engine"]
    lines = [
        f"{answer['name']}: up for {engine['t_ns'] / 1e9:.1f} s, "
        f"{engine['delivered_packets']} packets delivered, {engine['held_packets']} on the way",
        f"lateness p50 {engine['lateness_p50_ns'] / 1e3:.1f} µs, "
        f"p99 {engine['lateness_p99_ns'] / 1e3:.1f} µs; {engine['gaps']} scheduling stalls over 100 µs",
    ]
    for program in answer["programs"]:
        lines.append(f"  {program['name']} on {program['host']}: {_state(program)}")
    return os.linesep.join(lines)


def _state(program: Mapping[str, Any]) -> str:
    if program["error"]:
        return str(program["error"])
    if program["end_ns"] is not None:
        ending = f"signal {program['signal']}" if program["signal"] else f"exit {program['exit']}"
        return f"ended ({ending})"
    return "running" if program["start_ns"] is not None else "waits for its start"


def unknown(kind: str, name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """A message for a name that does not exist, with the nearest that does."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    hint = f'; did you mean "{near[0]}"?' if near else f"; there are: {', '.join(list(known)[:12])}"
    return f'there is no {kind} "{name}"{hint}'
