"""NFS and sshfs over a WAN, on the virtual clock: fio's large and small operations against arithmetic."""

import json
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Case, Figures, Study, at_least, between, exact, near
from longhaul.studies.drawing import MARKERS, colour, legend_below

SCENARIO = Path(__file__).parent / "file-systems.yaml"
NEEDED = ("mount.nfs4", "rpc.nfsd", "rpc.mountd", "exportfs", "sshd", "sshfs", "fio")
"""Programs of the scenario."""
INSTALL = "apt-get install nfs-kernel-server nfs-common openssh-server sshfs fio"
"""The packages of Debian that have them."""
PLACES = "/usr/sbin:/sbin:/usr/bin:/bin"
"""Where they are, though a user's PATH may lack some."""
DELAYS_MS = (0, 1, 10, 50)
"""One way."""
FAR_MS = (10, 50)
OPERATIONS, LARGE_MIB = 200, 64
READ_AHEAD_KIB, MORE_KIB = 128, 16384
"""Linux's default, and one that covers a gigabit over 100 ms."""
SYSTEMS = {"nfs": "NFS", "sshfs": "sshfs"}
SMALL_TASKS = {"random-read": "read 4 KiB", "random-write": "write 4 KiB", "create": "create a file"}
LARGE_TASKS = {"write": "write 64 MiB", "read": "read 64 MiB"}
WIRE_MBITS = 1000.0
LOOKED_UP_S = 1.0
"""FUSE trusts the name of a directory for so long; looking it up again takes sshfs a round trip."""


def missing() -> list[str]:
    """Programs of the scenario that are not installed."""
    return [name for name in NEEDED if shutil.which(name, path=PLACES) is None]


def study_file_systems(study: Study) -> None:
    """Run fio on both file systems at each delay, evaluate the claims."""
    if missing():
        raise RuntimeError(f"{', '.join(missing())} not installed ({INSTALL})")
    rows = []
    for delay, ahead in [*((delay, READ_AHEAD_KIB) for delay in DELAYS_MS), (DELAYS_MS[-1], MORE_KIB)]:
        found = study.measured(f"file-systems/{delay}/{ahead}", partial(_run, study, delay, ahead))
        if found is None:
            raise RuntimeError(f"nothing was measured at a delay of {delay} ms, and claims need it")
        rows += [{"delay_ms": delay, "read_ahead_kib": ahead, **row} for row in found]
    study.table("file-systems", rows)
    found_s = {
        (row["system"], row["task"], row["delay_ms"]): row["seconds"] / row["operations"]
        for row in rows
        if row["read_ahead_kib"] == READ_AHEAD_KIB
    }
    _evaluate_small(study, found_s)
    _evaluate_large(study, rows)


def _run(study: Study, delay_ms: int, ahead_kib: int) -> list[dict[str, Any]]:
    """The tasks of both file systems at a delay."""
    params = {
        "delay": f"{delay_ms}ms",
        "read_ahead": str(ahead_kib),
        "small": str(study.size(OPERATIONS, small=10)),
        "large": f"{study.size(LARGE_MIB, small=2)}m",
    }
    result = longhaul.run_live(SCENARIO, params=params, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    rows = list(_tasks(result))
    if len(rows) != len(SYSTEMS) * (len(SMALL_TASKS) + len(LARGE_TASKS)):
        raise RuntimeError(f"fio did not do all its tasks; see logs in {result.directory}")
    return rows


def _tasks(result: Result) -> Iterator[dict[str, Any]]:
    """What fio says, line by line."""
    for line in (result.directory / "logs" / "client.out").read_text(encoding="utf-8").splitlines():
        (job,) = json.loads(line)["jobs"]
        system, _, task = job["jobname"].partition("-")
        done = job["write" if task.endswith("write") else "read"]
        yield {
            "system": system,
            "task": task,
            "operations": done["total_ios"],
            "bytes": done["io_bytes"],
            "seconds": job["job_runtime"] / 1e3,
        }


def round_trips(system: str, task: str, delay_ms: float, stated: Mapping[tuple[str, str], float]) -> float:
    """How many round trips a small operation takes, by arithmetic."""
    least = stated[system, task]
    if (system, task) != ("sshfs", "create"):
        return least
    # One file in so many finds that a second has passed.
    return least + 1 / ceil(LOOKED_UP_S / (least * 2 * delay_ms / 1e3))


def _evaluate_small(study: Study, found_s: Mapping[tuple[str, str, int], float]) -> None:
    limits = study.numbers("small-operations-wait")
    tasks = [(system, task) for task in SMALL_TASKS for system in SYSTEMS]
    stated = dict(zip(tasks, limits.all("round_trips"), strict=True))
    cases = []
    for system, task in tasks:
        for delay in DELAYS_MS[1:]:
            waited_s = found_s[system, task, delay] - found_s[system, task, 0]
            cases.append(
                near(
                    f"{SYSTEMS[system]}, {SMALL_TASKS[task]}, {delay} ms",
                    exact(waited_s / (2 * delay / 1e3)),
                    round(round_trips(system, task, delay, stated), 3),
                    limits["within"],
                    "round trips",
                )
            )
    study.evaluate("small-operations-wait", cases)


def mbits(row: Mapping[str, Any]) -> float:
    """The rate of a large file."""
    return float(row["bytes"] * 8 / row["seconds"] / 1e6)


def _evaluate_large(study: Study, rows: list[dict[str, Any]]) -> None:
    rates = {
        (row["system"], row["task"], row["delay_ms"], row["read_ahead_kib"]): mbits(row)
        for row in rows
        if row["task"] in LARGE_TASKS
    }
    for (system, task, delay, ahead), rate in rates.items():
        study.value(f"{system}, {task}, {delay}, {ahead}", exact(rate), "Mbit/s")
    least = study.numbers("large-files-at-line-rate")["least"]
    study.evaluate(
        "large-files-at-line-rate",
        [
            at_least(
                f"{SYSTEMS[system]}, {task}, {delay} ms",
                exact(rates[system, task, delay, READ_AHEAD_KIB] / WIRE_MBITS),
                least,
                percent=True,
            )
            for system in SYSTEMS
            for task in LARGE_TASKS
            for delay in (0, 1)
        ],
    )
    limits = study.numbers("reads-wait-for-read-ahead")
    study.evaluate("reads-wait-for-read-ahead", list(_waits(rates, limits["least"], limits["most"])))
    ratio = study.numbers("read-ahead-helps")["ratio"]
    far = DELAYS_MS[-1]
    study.evaluate(
        "read-ahead-helps",
        [
            at_least(
                label,
                exact(rates[system, "read", far, MORE_KIB] / rates[system, "read", far, READ_AHEAD_KIB]),
                ratio,
            )
            for system, label in SYSTEMS.items()
        ],
    )


def _waits(rates: Mapping[tuple[str, str, int, int], float], least: float, most: float) -> Iterator[Case]:
    """How many round trips a MiB of a file takes that is read in a row."""
    for system, label in SYSTEMS.items():
        for delay in FAR_MS:
            block_s = 2**20 * 8 / (rates[system, "read", delay, READ_AHEAD_KIB] * 1e6)
            trips = exact(block_s / (2 * delay / 1e3))
            yield between(f"{label}, {delay} ms", trips, least, most, "round trips")


def draw(figures: Figures) -> None:
    """Round trips of small operations, and rates of large files, over the delay."""
    rows = [row for row in figures.rows("file-systems") if row["read_ahead_kib"] == READ_AHEAD_KIB]
    more = [row for row in figures.rows("file-systems") if row["read_ahead_kib"] == MORE_KIB]
    with paper():
        made = figure(4, width_in=10)
        small, large = made.subplots(1, 2)
        tasks = [(system, task) for task in SMALL_TASKS for system in SYSTEMS]
        places = range(len(tasks))
        for number, delay in enumerate(DELAYS_MS[1:]):
            mine = {(row["system"], row["task"]): row for row in rows if row["delay_ms"] == delay}
            trips = [mine[each]["seconds"] / mine[each]["operations"] / (2e-3 * delay) for each in tasks]
            at = [place - 0.22 + 0.22 * number for place in places]
            small.plot(
                trips, at, MARKERS[number], color=colour(number), label=f"{delay} ms one way", markersize=6
            )
        stated = figures.numbers("small-operations-wait").all("round_trips")
        small.plot(stated, places, "|", color="0.5", markersize=26, zorder=0)
        small.plot([], [], "|", color="0.5", markersize=8, label="arithmetic, without looking up")
        small.set_yticks(places, [f"{SYSTEMS[system]}: {SMALL_TASKS[task]}" for system, task in tasks])
        small.set(xlim=(0, 3.5), ylim=(len(tasks) - 0.5, -0.5), xlabel="round trips of an operation")
        small.set_title("small operations")
        small.grid(axis="y", visible=False)
        for number, (task, label) in enumerate(LARGE_TASKS.items()):
            for kind, (system, name) in enumerate(SYSTEMS.items()):
                mine = [row for row in rows if (row["system"], row["task"]) == (system, task)]
                large.plot(
                    [row["delay_ms"] for row in mine],
                    [mbits(row) for row in mine],
                    f"{MARKERS[kind]}{('-', '--')[kind]}",
                    color=colour(3 + number),
                    fillstyle=("full", "none")[kind],
                    markersize=5 + 3 * kind,
                    label=f"{name}: {label}",
                )
        for row in more:
            if row["task"] == "read":
                kind = list(SYSTEMS).index(row["system"])
                large.plot(
                    [row["delay_ms"]],
                    [mbits(row)],
                    "*",
                    color=colour(4),
                    fillstyle=("full", "none")[kind],
                    markersize=10,
                    label=f"{SYSTEMS[row['system']]}: the same, read-ahead of 16 MiB",
                )
        large.set_xscale("symlog", linthresh=1)
        large.set(ylim=(0, 1050), ylabel="rate [Mbit/s]", title="a large file over 1 Gbit/s")
        large.set_xticks(DELAYS_MS, [str(each) for each in DELAYS_MS])
        large.minorticks_off()
        large.set_xlabel("delay, one way [ms]")
        legend_below(made, ncols=4, size=7)
        figures.add(made, "file-systems", data=["file-systems"])
