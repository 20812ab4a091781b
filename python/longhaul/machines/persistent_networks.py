"""Networks on several machines that stay up: a process coordinates them until they are taken down.

:func:`bring_up` starts it, as ``python -m longhaul.machines.persistent_networks ORDERS``.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longhaul import log, processes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines import run as divided_run
from longhaul.machines.allocations import Allocation
from longhaul.machines.hostfile import Machine
from longhaul.machines.kubernetes import Pods, removing
from longhaul.machines.learnt_networks import with_learnt_networks
from longhaul.machines.messages import Message, Writer
from longhaul.machines.parts import Options
from longhaul.machines.placement import Cut, Placement, place
from longhaul.results import ending, run_record
from longhaul.run import exporter, live, live_shards, signals
from longhaul.run.persistent_networks import Standing
from longhaul.run.ports import WantedPort
from longhaul.run.session import RunFailedError, search_path
from longhaul.run.sockets import claimed
from longhaul.subprocesses import python_command


def bring_up(
    scenario: Path,
    allocation: Allocation,
    *,
    settings: Mapping[str, str],
    name: str | None,
    runs: Path,
    argv: list[str],
    options: Options,
    sudo: bool = False,
    prometheus: str | None = None,
) -> Standing:
    """Bring a scenario up on several machines, and leave it up. Pods are removed when it is taken down.

    With ``sudo``, its processes run as root. At ``prometheus`` (ADDRESS:PORT), metrics are served. Raises
    LonghaulError if it does not come up; then nothing is left.
    """
    from longhaul.run.announcement import announce_live
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings))
    announce_live(resolved)
    called = name or resolved.plan["name"]
    with claimed(called) as path:
        listener = exporter.listen(prometheus) if prometheus else None
        resolved = with_learnt_networks(resolved, allocation.machines)
        planned = live.plan_run(resolved, sudo=sudo, on_machines=True)
        live_shards.refuse(planned.plan, option="--on")
        placement = place(resolved, planned.plan, allocation.machines)
        log.warn(*planned.warnings)
        prepared = live.begin(planned, runs=runs, argv=argv)
        orders = {
            "run": prepared.run,
            "directory": str(prepared.directory.resolve()),
            "placement": asdict(placement),
            "options": asdict(options),
            "socket": str(path),
            "pods": None if allocation.pods is None else asdict(allocation.pods),
        }
        began_s = time.monotonic()
        with ending.recorded(prepared.directory):
            hosts = _started(orders, prepared.directory)
        if listener is not None:
            exporter.serve_apart(listener, prepared.directory, path)
    return Standing(called, prepared.directory, hosts, time.monotonic() - began_s)


def _started(orders: Mapping[str, Any], directory: Path) -> int:
    """Start the coordinator's process, and pass on what it says until the run's clock has started.

    Returns the number of hosts. Raises LonghaulError.
    """
    logs = directory / "logs"
    logs.mkdir(exist_ok=True)
    with (logs / "coordinator.err").open("wb") as errors:
        process = subprocess.Popen(
            python_command(processes.COORDINATOR, json.dumps(orders)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, "PATH": search_path()},
        )
    assert process.stdout is not None
    hosts = 0
    try:
        for line in process.stdout:
            message: Message = json.loads(line)
            match message["event"]:
                case "log":
                    log.note(message["text"])
                case "warning":
                    log.warn_of(message["message"])
                case "up":
                    hosts = message["hosts"]
                case "started":
                    return hosts
                case "failed":
                    process.wait()
                    why, remedy = message["message"], message["remedy"]
                    code, exit_code = Code(message["code"]), message["exit_code"]
                    raise LonghaulError(code, why, remedy=remedy, exit_code=exit_code)
        exit_code = process.wait()
        said = (logs / "coordinator.err").read_text(errors="replace").strip().splitlines()[-1:]
        why = f"the coordinator ended with exit code {exit_code}" + "".join(f": {each}" for each in said)
        raise RunFailedError(Code.RUN_FAILED, why, status=ending.CRASHED)
    except BaseException:
        # Its agents end with it.
        process.kill()
        process.wait()
        raise
    finally:
        process.stdout.close()


def main() -> int:
    """Coordinate the run that the orders on the command line describe, to its end."""
    orders = json.loads(sys.argv[1])
    out = Writer(os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0))
    # Whoever reads the other end has gone when the network is up.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    log.print_with(lambda line: out.send({"event": "log", "text": line.removeprefix("longhaul: ")}))
    signals.interrupt_on_signals()
    with removing(None if orders["pods"] is None else Pods(**orders["pods"])):
        return _coordinated(orders, out)


def _coordinated(orders: Mapping[str, Any], out: Writer) -> int:
    """The exit code."""
    directory = Path(orders["directory"])
    known = run_record.read(directory / "run.json").get("processes") or {}
    run_record.update(directory / "run.json", processes={**known, "coordinator": processes.identify()})
    try:
        divided_run.run(
            directory,
            _placement(orders["placement"]),
            name=orders["run"],
            progress=out.send,
            options=Options(**orders["options"]),
            path=Path(orders["socket"]),
        )
    except LonghaulError as error:
        failed = {"message": error.message, "remedy": error.remedy, "exit_code": error.exit_code}
        out.send({"event": "failed", "code": error.code, **failed})
        return 1
    return 0


def _placement(found: Mapping[str, Any]) -> Placement:
    machines = [Machine(**{**each, "command": tuple(each["command"])}) for each in found["machines"]]
    cuts = [Cut(**{**each, "ends": tuple(each["ends"])}) for each in found["cuts"]]
    return Placement(machines, found["partition"], cuts, [WantedPort(**each) for each in found["ports"]])


if __name__ == "__main__":
    sys.exit(main())
