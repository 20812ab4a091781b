"""The programs of a run inside the guest: started and stopped at their times, and waited for."""

import heapq
import os
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from longhaul.oracle.datagrams import BEGIN
from longhaul.subprocesses import program as installed

GRACE_NS = 2 * 10**9
"""Between SIGTERM and SIGKILL."""
_POLL_S = 0.001
_LISTENS = "0A"
"""The state of a listening socket in ``/proc/net/tcp``."""
Json = dict[str, Any]


class Programs:
    """All programs of a run. First :meth:`prepare`, then :meth:`run`."""

    def __init__(self, orders: Json, *, change: Callable[[Json], None]) -> None:
        """``orders`` has ``programs``, ``changes``, ``cwd``, ``env``, ``logs`` and ``duration_ns``.

        ``change`` is called with each of the changes at its time.
        """
        self._change = change
        self._orders = orders
        self._programs: dict[str, Json] = {each["name"]: each for each in orders["programs"]}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._records: dict[str, Json] = {}
        self._begin_ns = 0
        self._timers: list[tuple[int, int, str, str]] = []
        self._ties = count()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})

    def prepare(self, begin_ns: int) -> None:
        """Start services and what is to be ready when the run begins, at this time of the clock.

        Returns when those services that say how can be used.
        """
        self._begin_ns = begin_ns
        early = [each for each in self._programs.values() if each["service"] or each["early"]]
        for each in early:
            self._start(each["name"])
        for each in early:
            self._wait_until_ready(each)

    def run(self) -> None:
        """Run everything until the run ends, from its begin on, and end what is left then."""
        for each in self._programs.values():
            if each["service"]:
                if each["stop_ns"] is not None:
                    self._at(each["stop_ns"], "stop", each["name"])
            elif not each["after"] and not each["early"]:
                self._at(each["start_ns"], "start", each["name"])
        for number, each in enumerate(self._orders["changes"]):
            self._at(each["at_ns"], "change", str(number))
        end_ns = self._orders["duration_ns"]
        if end_ns is not None:
            self._at(end_ns, "end", "")
        while self._advance():
            pass
        self._end_all()

    def records(self) -> list[Json]:
        """The record of each program that was started."""
        return list(self._records.values())

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._begin_ns

    def _at(self, at_ns: int, what: str, name: str) -> None:
        heapq.heappush(self._timers, (at_ns, next(self._ties), what, name))

    def _advance(self) -> bool:
        """Wait for the next timer or the end of a program; whether the run goes on."""
        while self._timers and self._timers[0][0] <= self._now_ns():
            _at, _tie, what, name = heapq.heappop(self._timers)
            if what == "end":
                return False
            if what == "change":
                self._change(self._orders["changes"][int(name)])
            else:
                {"start": self._start, "stop": self._stop, "kill": self._kill}[what](name)
        if self._orders["duration_ns"] is None and not self._is_awaited():
            return False
        self._wait(self._timers[0][0] - self._now_ns() if self._timers else None)
        return True

    def _is_awaited(self) -> bool:
        """Whether a program that is no service runs, or is yet to start."""
        return any(
            name in self._running or name not in self._records
            for name, each in self._programs.items()
            if not each["service"]
        )

    def _wait(self, most_ns: int | None) -> None:
        if most_ns is None:
            signal.sigwait({signal.SIGCHLD})
        elif most_ns > 0:
            signal.sigtimedwait({signal.SIGCHLD}, most_ns / 1e9)
        self._reap()

    def _reap(self) -> None:
        """Record the programs that have ended, and start those that wait for them."""
        for name, process in list(self._running.items()):
            code = process.poll()
            if code is None:
                continue
            del self._running[name]
            self._records[name] |= {
                "end_ns": self._now_ns(),
                "exit": code if code >= 0 else None,
                "signal": -code if code < 0 else None,
            }
            for each in self._programs.values():
                waits_for = each["after"]
                if name in waits_for and all(self._has_ended(other) for other in waits_for):
                    self._at(self._now_ns(), "start", each["name"])

    def _has_ended(self, name: str) -> bool:
        return name in self._records and name not in self._running

    def _start(self, name: str) -> None:
        each = self._programs[name]
        self._records[name] = {
            "name": name,
            "host": each["host"],
            "argv": each["argv"],
            "service": each["service"],
            "start_ns": self._now_ns(),
            "end_ns": None,
            "exit": None,
            "signal": None,
            "stopped_by_run": False,
            "error": None,
        }
        environment = {
            **self._orders["env"],
            "LONGHAUL_HOST": each["host"],
            "HOSTNAME": each["host"],
            BEGIN: str(self._begin_ns),
            **each["env"],
        }
        logs = Path(self._orders["logs"])
        with (logs / f"{name}.out").open("wb") as out, (logs / f"{name}.err").open("wb") as err:
            self._running[name] = subprocess.Popen(
                _in_host(each),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=each["cwd"] or self._orders["cwd"],
                env=environment,
                start_new_session=True,
            )
        if each["stop_ns"] is not None and not each["service"]:
            self._at(each["stop_ns"], "stop", name)

    def _stop(self, name: str) -> None:
        if self._signal(name, signal.SIGTERM):
            self._records[name]["stopped_by_run"] = True
            self._at(self._now_ns() + GRACE_NS, "kill", name)

    def _kill(self, name: str) -> None:
        self._signal(name, signal.SIGKILL)

    def _signal(self, name: str, number: int) -> bool:
        process = self._running.get(name)
        if process is None or process.poll() is not None:
            return False
        os.killpg(process.pid, number)
        return True

    def _end_all(self) -> None:
        self._timers = []
        for name in list(self._running):
            self._stop(name)
        while self._running:
            while self._timers and self._timers[0][0] <= self._now_ns():
                self._kill(heapq.heappop(self._timers)[3])
            self._wait(self._timers[0][0] - self._now_ns() if self._timers else None)

    def _wait_until_ready(self, each: Json) -> None:
        ready = each["ready"]
        if ready is None:
            return
        deadline_ns = time.monotonic_ns() + ready["within_ns"]
        process = self._running[each["name"]]
        while not _listens(process.pid, ready["tcp_port"]):
            if process.poll() is not None or time.monotonic_ns() > deadline_ns:
                self._records[each["name"]]["error"] = f"does not listen on port {ready['tcp_port']}"
                return
            time.sleep(_POLL_S)


def _in_host(each: Json) -> list[str]:
    """The command line that runs a program in the network namespace of its host, under the host's name."""
    ip, unshare, shell = (installed(name) for name in ("ip", "unshare", "sh"))
    named = [unshare, "--uts", shell, "-c", 'hostname "$0" && exec "$@"', each["host"]]
    return [ip, "netns", "exec", each["namespace"], *named, *each["argv"]]


def _listens(pid: int, port: int) -> bool:
    """Whether somebody listens on a TCP port in the network namespace of a process."""
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False
