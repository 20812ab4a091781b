"""Runs on two machines, which are network namespaces with an sshd each: their scenario and their commands."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from machine_room import MachineRoom

COMMAND = str(Path(sys.executable).parent / "longhaul")

SCENARIO = """\
version: 1
name: wan
duration: {duration}
nodes:
  par: {{kind: router, place: m1}}
  nyc: {{kind: router, place: m2}}
  par1..2: {{kind: host, attach: par}}
  nyc1..2: {{kind: host, attach: nyc}}
links:
  atlantic: {{endpoints: [par, nyc], rate: 50Mbit, delay: {delay}}}
traffic:
  rtt: {{kind: ping, from: par1, to: nyc1, every: 20ms}}
{more}
"""


def scenario(
    place: Path, *, duration: str = "3s", delay: str = "40ms", more: str = "", without: str = ""
) -> Path:
    path = place / "wan.yaml"
    path.write_text(SCENARIO.format(duration=duration, delay=delay, more=more).replace(without, ""))
    return path


def environment(place: Path) -> dict[str, str]:
    """One in which commands find the runs of this test alone."""
    runtime = place / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}


def longhaul(
    room: MachineRoom, place: Path, *words: str, within_s: float = 60
) -> "subprocess.CompletedProcess[str]":
    """A command about a run, where the coordinator is."""
    return subprocess.run(
        room.at_switch(COMMAND, *words),
        cwd=place,
        env=environment(place),
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )


def asked(room: MachineRoom, place: Path, *words: str) -> str:
    """What one prints that must succeed."""
    done = longhaul(room, place, *words)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def command(room: MachineRoom, path: Path, *options: str) -> list[str]:
    on = ["--on", str(room.hostfile), "--ssh", room.ssh]
    return room.at_switch(COMMAND, "run", str(path), *on, "--no-report", *options)


def run(room: MachineRoom, path: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(room, path, *options),
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def running(room: MachineRoom, path: Path, *options: str) -> "Iterator[subprocess.Popen[str]]":
    """A run whose programs have started."""
    with subprocess.Popen(
        command(room, path, *options),
        cwd=path.parent,
        env=environment(path.parent),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while not pings(room) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            assert process.poll() is None, process.communicate()
            yield process
        finally:
            process.kill()


def command_lines() -> Iterator[bytes]:
    """Of all processes that are there."""
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            with suppress(OSError):
                yield (each / "cmdline").read_bytes()


def pings(room: MachineRoom) -> list[int]:
    """The processes of ping in hosts of the room's runs, which begin where the run did."""
    pids = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                line = (each / "cmdline").read_bytes()
                place = os.readlink(each / "cwd")
            except OSError:
                continue
            if b"ping\0-n\0-D" in line and place.startswith(str(room.place.parent)):
                pids.append(int(each.name))
    return pids


def agents(room: MachineRoom, name: str) -> list[int]:
    """The processes of agents on a machine."""
    inside = subprocess.run(
        ["ip", "netns", "pids", room.namespace(name)], capture_output=True, text=True, check=True
    ).stdout.split()
    found = []
    for pid in inside:
        # Some of them end meanwhile.
        with suppress(FileNotFoundError):
            if b"longhaul.machines.agent" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found


def assert_ran(done: "subprocess.CompletedProcess[str]") -> None:
    """It ended in order; a busy machine may have dropped packets, which makes the network invalid."""
    assert done.returncode in (0, 4), done.stderr + done.stdout


def summary_of(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "runs/wan/latest-live/summary.json").read_text())
    return found


def engine_of(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "runs/wan/latest-live/raw/engine.json").read_text())
    return found


def directories() -> Iterator[Path]:
    """Those of agents of these runs; other tests may run beside."""
    for plan in Path("/tmp").glob("longhaul-????????/plan.json"):
        with suppress(OSError, ValueError):
            if json.loads(plan.read_text())["name"] == "wan":
                yield plan.parent


def assert_nothing_left(room: MachineRoom) -> None:
    for _ in range(100):
        left = [
            *pings(room),
            *(pid for name in room.names for pid in agents(room, name)),
            *directories(),
        ]
        if not left:
            break
        time.sleep(0.1)
    assert not left
