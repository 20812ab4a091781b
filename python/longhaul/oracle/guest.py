"""The first process of the oracle's guest: builds the network, runs the programs, and powers the guest off.

Its argument is the path of its orders (JSON), beside which it writes ``result.json``. Its file system is the
machine's, read only, under a layer in memory; the working directory and that of the results are the machine's
own.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from longhaul.oracle.guest_programs import Programs

BEGIN_NS = 3 * 10**9
"""When a run begins at the earliest: ping takes an earlier clock for none at all."""
SETTLE_NS = 10**9
"""What the network has to itself before."""
RESULT = "result.json"
_POWER_OFF = 0x4321FEDC
Json = dict[str, Any]


class GuestError(Exception):
    """What the guest cannot do, in a sentence."""


def main() -> int:
    """Carry out the orders in the file that is named."""
    place = Path(sys.argv[1])
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        _mount("proc", "proc", "/proc")
        _mount("tmpfs", "tmpfs", "/run")
        orders: Json = json.loads(place.read_text(encoding="utf-8"))
        _enter_root([orders["cwd"], str(place.parent)])
        try:
            found = _run(orders)
        except (GuestError, OSError) as error:
            found = {"error": str(error)}
        part = place.with_name(f"{RESULT}.part")
        part.write_text(json.dumps(found), encoding="utf-8")
        part.rename(place.with_name(RESULT))
    except Exception:
        # The power is off before the interpreter would say so.
        traceback.print_exc()
        raise
    finally:
        os.sync()
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).reboot(_POWER_OFF)
    return 1


def _run(orders: Json) -> Json:
    Path("/etc/hosts").write_text(orders["hosts"], encoding="utf-8")
    for command in orders["commands"]:
        _call(command["argv"], "\n".join(command["lines"]) + "\n")
    programs = Programs(orders, change=_change)
    patience_ns = max((each["ready"]["within_ns"] for each in orders["programs"] if each["ready"]), default=0)
    begin_ns = max(BEGIN_NS, time.monotonic_ns() + patience_ns + SETTLE_NS)
    programs.prepare(begin_ns)
    time.sleep(max(begin_ns - time.monotonic_ns(), 0) / 1e9)
    before = _counters(orders["namespaces"])
    unix_ns = time.time_ns()
    programs.run()
    end_ns = time.monotonic_ns()
    after = _counters(orders["namespaces"])
    return {
        "error": None,
        "begin_unix_ns": unix_ns,
        "duration_ns": end_ns - begin_ns,
        "programs": programs.records(),
        "before": before,
        "after": after,
    }


def _change(change: Json) -> None:
    """Let tc change a link."""
    _call(["tc", "-n", change["namespace"], "-batch", "-"], "\n".join(change["lines"]) + "\n")


def _counters(namespaces: list[str]) -> Json:
    """The counters of all queueing disciplines, by namespace, as ``tc`` has them."""
    return {
        name: json.loads(_call(["tc", "-n", name, "-s", "-j", "qdisc", "show"], "") or "[]")
        for name in namespaces
    }


def _call(argv: list[str], given: str) -> str:
    done = subprocess.run(argv, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise GuestError(f"{' '.join(argv[:6])}: {said}")
    return done.stdout


def _enter_root(own: list[str]) -> None:
    """Change to a file system that can be written, with the directories ``own`` of the machine in it."""
    upper, work, root = (f"/run/{name}" for name in ("upper", "work", "root"))
    for folder in (upper, work, root):
        os.mkdir(folder)
    _mount("overlay", "overlay", root, f"lowerdir=/,upperdir={upper},workdir={work}")
    _mount("proc", "proc", f"{root}/proc")
    _mount("sysfs", "sysfs", f"{root}/sys")
    _mount("devtmpfs", "devtmpfs", f"{root}/dev")
    for folder in ("dev/pts", "dev/shm"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    _mount("devpts", "devpts", f"{root}/dev/pts", "mode=620,ptmxmode=666")
    for folder in ("dev/shm", "run", "tmp", "var/tmp"):
        _mount("tmpfs", "tmpfs", f"{root}/{folder}", "mode=1777")
    for folder in sorted(set(own) - {"/"}):
        os.makedirs(f"{root}{folder}", exist_ok=True)
        _mount("hostfs", "run", f"{root}{folder}", folder)
    os.chroot(root)
    os.chdir("/")


def _mount(kind: str, source: str, target: str, data: str | None = None) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    if library.mount(*words, 0, None if data is None else data.encode()):
        error = ctypes.get_errno()
        # A kernel may have done this by itself.
        if kind != "devtmpfs":
            raise GuestError(f"cannot mount {kind} at {target}: {os.strerror(error)}")


if __name__ == "__main__":
    sys.exit(main())
