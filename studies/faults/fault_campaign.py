"""A fault campaign: short live runs, each with one fault at a random moment; all must end with a reason.

``make study-faults`` or ``make study-faults ARGS="--trials 1000 --seed 2"``. Writes ``trials.csv``,
``provenance.json`` and ``table.md`` into ``campaign/``. Interrupted, it resumes: trials that are in the file
are not repeated, except with ``--again``. With ``--kills`` so many kills of commands of every kind instead
(``kills.csv``, ``kills.json``, ``kills.md``); they begin anew each time.
"""

import argparse
import csv
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

import kills  # noqa: E402
from trials import COLUMNS, FAULTS, Trial, as_row, of_row, perform  # noqa: E402

from longhaul.studies.provenance import provenance  # noqa: E402

RESULTS = FOLDER / "campaign"
HEADS = (
    "fault",
    "process",
    "trials",
    "hit while it ran",
    "ended with a reason",
    "which names it",
    "readable",
    "nothing left",
)
WORDS = {
    "kill": "SIGKILL",
    "abort": "SIGABRT",
    "terminate": "SIGTERM",
    "hang up": "SIGHUP",
    "stop": "SIGSTOP",
    "memory": "out of memory (the kernel's killer)",
    "disk": "full disk",
    "socket": "a random socket shut down",
}


def table(trials: Sequence[Trial]) -> str:
    """Markdown: a row for each kind of fault and process."""
    lines = [
        f"| {' | '.join(HEADS)} |",
        f"|{'---|' * len(HEADS)}",
    ]
    groups: dict[tuple[str, str], list[Trial]] = {}
    for each in trials:
        groups.setdefault((each.kind, each.victim), []).append(each)
    order = list(WORDS)
    for (kind, victim), found in sorted(groups.items(), key=lambda item: order.index(item[0][0])):
        lines.append(_row(WORDS[kind], "-" if kind == "disk" else victim, found))
    lines.append(_row("**all**", "", trials))
    return "\n".join(lines) + "\n"


def _row(fault: str, victim: str, found: Sequence[Trial]) -> str:
    hit = [each for each in found if each.hit and each.phase == "running"]
    runs = [each for each in found if each.has_run]
    counts = (
        len(found),
        len(hit),
        f"{sum(each.ended for each in runs)} of {len(runs)}",
        f"{sum(each.named for each in hit)} of {len(hit)}",
        f"{sum(each.readable for each in runs)} of {len(runs)}",
        sum(not each.left for each in found),
    )
    return "| " + " | ".join([fault, victim, *map(str, counts)]) + " |"


def main() -> int:
    """Perform the trials that are missing, print and write the table; 0 if all are good."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=3, help="trials at once")
    options.add_argument("--within", type=float, help="begin no trial after this many seconds")
    options.add_argument("--again", action="store_true", help="repeat all trials")
    options.add_argument("--only", type=int, nargs="*", help="numbers of trials, which are not written")
    options.add_argument("--kills", type=int, help="this many kills of every kind of command instead")
    asked = options.parse_args()
    if asked.kills is not None:
        return _kill(asked)
    began_s = time.monotonic()
    earlier = [] if asked.again or asked.only else _read(asked)
    known = {each.number for each in earlier}
    numbers = asked.only or [number for number in range(asked.trials) if number not in known]
    folder = Path(tempfile.mkdtemp(prefix="faults-"))

    def one(number: int) -> Trial | None:
        if asked.within is not None and time.monotonic() - began_s > asked.within:
            return None
        return perform(number, seed=asked.seed, folder=folder)

    trials = list(earlier)
    with ThreadPoolExecutor(asked.jobs) as pool:
        for trial in pool.map(one, numbers):
            if trial is not None:
                trials.append(trial)
                _print(trial)
                if not asked.only:
                    _write(trials, asked, time.monotonic() - began_s)
    print(table(trials))
    bad = [each for each in trials if not each.is_good]
    print(f"{len(trials) - len(bad)} of {len(trials)} are good; {len(FAULTS)} kinds of faults")
    if bad:
        print(f"what the others left is in {folder}")
    else:
        shutil.rmtree(folder)
    return int(bool(bad))


def _kill(asked: argparse.Namespace) -> int:
    """Perform the kills, print and write the table; 0 if all are good."""
    began_s = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    found: list[kills.Kill] = []
    with kills.echo() as port, ThreadPoolExecutor(asked.jobs) as pool:
        one = partial(kills.perform, seed=asked.seed, folder=folder, port=port)
        for each in pool.map(one, asked.only or range(asked.kills)):
            found.append(each)
            what = f"{each.product}, {each.phase}, {each.moment_s:.2f} s, killed: {each.victim or 'nothing'}"
            ended = f"{each.status}: {each.reason} {each.left} {each.problem}"
            print(f"{'ok ' if each.is_good else 'BAD'} {each.number:4} {what}: {ended}", flush=True)
    bad = [each for each in found if not each.is_good]
    if not asked.only:
        _write_kills(found, asked, time.monotonic() - began_s, folder)
    print(kills.table(found))
    print(f"{len(found) - len(bad)} of {len(found)} are good")
    if bad:
        print(f"what the others left is in {folder}")
    else:
        shutil.rmtree(folder)
    return int(bool(bad))


def _write_kills(found: list[kills.Kill], asked: argparse.Namespace, took_s: float, folder: Path) -> None:
    RESULTS.mkdir(exist_ok=True)
    places = (str(folder), str(Path(sys.prefix).parent))

    def clean(text: str) -> str:
        for place in places:
            text = text.replace(place, "")
        return text

    with (RESULTS / "kills.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, kills.COLUMNS)
        writer.writeheader()
        writer.writerows(kills.as_row(each, clean) for each in found)
    command = f'make study-faults ARGS="--kills {asked.kills} --seed {asked.seed} --jobs {asked.jobs}"'
    content = provenance(FOLDER, command=command, took_s=took_s, runs=[])
    content |= {"kills": len(found), "good": sum(each.is_good for each in found)}
    (RESULTS / "kills.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "kills.md").write_text(kills.table(found), encoding="utf-8")


def _print(trial: Trial) -> None:
    what = f"{trial.product} {trial.kind} {trial.victim} at {trial.moment_s:.2f} s ({trial.phase})"
    ended = f"{trial.status}: {trial.reason} {trial.left} {trial.problem}"
    mark = "ok " if trial.is_good else f"BAD ended={trial.ended} readable={trial.readable}"
    print(f"{mark} {trial.number:4} {what}: {ended} ({trial.took_s} s)", flush=True)


def _read(asked: argparse.Namespace) -> list[Trial]:
    """The trials of this seed that are done."""
    path = RESULTS / "trials.csv"
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = [of_row(row) for row in csv.DictReader(file)]
    return [each for each in rows if each.seed == asked.seed and each.number < asked.trials]


def _write(trials: Sequence[Trial], asked: argparse.Namespace, took_s: float) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "trials.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(as_row(each) for each in trials)
    command = f'make study-faults ARGS="--trials {asked.trials} --seed {asked.seed} --jobs {asked.jobs}"'
    found = provenance(FOLDER, command=command, took_s=took_s, runs=[])
    found |= {
        "took_s": round(sum(each.took_s for each in trials) / asked.jobs),
        "trials": len(trials),
        "good": sum(each.is_good for each in trials),
        "with_a_run_directory": sum(each.has_run for each in trials),
        "ended_with_a_reason": sum(each.ended for each in trials),
        "readable": sum(each.readable for each in trials),
        "nothing_left": sum(not each.left for each in trials),
    }
    (RESULTS / "provenance.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "table.md").write_text(table(trials), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
