"""Where results come from: commit, date, machine, command, and how well the live runs did."""

import hashlib
import os
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul.results.certificate import processor
from longhaul.subprocesses import find_program

NO_MATTER = (
    "studies/*/results/*",
    "studies/faults/campaign/*",
    "bench/*.json",
    "*.md.j2",
    "*.md",
    "docs",
    "tests",
)
"""Files that make no difference to what a study finds: results, and documents."""
_SOURCES = ("*.py", "*.yaml", "*.toml", "*.csv")


@cache
def commit(place: Path) -> str:
    """The commit that is checked out at ``place``, with ``+`` if files that matter differ from it.

    Outside of a git checkout, ``files-`` and the beginning of a hash of the files beside ``place``.
    """
    top = _git(place, "rev-parse", "--show-toplevel")
    name = _git(place, "rev-parse", "--short=10", "HEAD") if top else ""
    if not name:
        return f"files-{_hash_of_files(place)}"
    beside = place.resolve().parent
    own = [f"{beside.relative_to(top)}/*/results/*"] if beside.is_relative_to(top) else []
    excluded = [f":(exclude){each}" for each in (*NO_MATTER, *own)]
    return f"{name}+" if _git(Path(top), "status", "--porcelain", "--", ".", *excluded) else name


def _git(place: Path, *arguments: str) -> str:
    """What git prints; nothing if it fails or is not there."""
    git = find_program("git")
    if git is None:
        return ""
    ran = subprocess.run([git, *arguments], cwd=place, check=False, capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def _hash_of_files(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(path for pattern in _SOURCES for path in folder.glob(pattern)):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:10]


def machine() -> str:
    """Processors and kernel."""
    release = re.match(r"[\d.]+", platform.release())
    kernel = release[0] if release else platform.release()
    return f"{os.cpu_count()} x {processor()}, Linux {kernel}"


def now() -> str:
    """This minute, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%MZ")


def provenance(
    place: Path,
    *,
    command: str,
    took_s: float,
    runs: Iterable[Mapping[str, Any]],
    analysis_s: float | None = None,
    rounds: int | None = None,
) -> dict[str, Any]:
    """Of results that are being written.

    ``place`` is a directory of the sources; ``runs`` are those of :func:`run_facts`. ``took_s`` is all of the
    time, ``analysis_s`` that after the last measurement. ``rounds``: how often it was measured.
    """
    every = list(runs)
    found: dict[str, Any] = {
        "commit": commit(place),
        "date": now(),
        "machine": machine(),
        "longhaul": version("longhaul"),
        "command": command,
        "took_s": round(took_s),
    }
    if analysis_s is not None:
        found["analysis_s"] = round(analysis_s, 1)
    if rounds is not None:
        found["rounds"] = rounds
    if every:
        found["runs"] = len(every)
        found["seeds"] = sorted({each["seed"] for each in every if each.get("seed") is not None})
    live = [each for each in every if each["verdict"]]
    if live:
        found["network"] = dict(Counter(each["verdict"] for each in live))
        found["hosts"] = dict(Counter(each["hosts"] for each in live if each["hosts"]))
        found["lateness_p99_us"] = [
            round(pick(each["lateness_p99_us"] for each in live), 1) for pick in (min, max)
        ]
        found["cpu_wait_share"] = round(max(each["cpu_wait_share"] for each in live), 4)
    return found


_EARLIER = {"kept up": "ok"}
"""Verdicts on hosts as results of earlier commits have them, whose threshold was lower: 5 %."""


def run_facts(summary: Mapping[str, Any], *, mode: str, seed: int | None = None) -> dict[str, Any]:
    """What provenance keeps of a run; a relay has no hosts that could be starved, and no seed."""
    fidelity = summary["fidelity"]
    if mode == "sim":
        return {"seed": seed, "verdict": "", "hosts": "", "lateness_p99_us": 0.0, "cpu_wait_share": 0.0}
    waited = max(fidelity.get("waiting", {}).values(), default=0.0)
    return {
        "seed": seed,
        "verdict": fidelity["verdict"],
        "hosts": fidelity["hosts"].get("state", ""),
        "lateness_p99_us": (fidelity["lateness"]["p99_ns"] or 0) / 1e3,
        "cpu_wait_share": waited,
    }


def disturbed(runs: Iterable[Mapping[str, Any]]) -> int:
    """How much went wrong in live runs: 0 if every network was faithful.

    Starved hosts do not count: where ranks share cores, they are starved each time.
    """
    weights = {"": 0, "faithful": 0, "degraded": 1, "invalid": 10}
    return sum(weights[each["verdict"]] for each in runs)


def sentence(found: Mapping[str, Any]) -> str:
    """Provenance in one line."""
    parts = [f"commit {found['commit']}", found["date"], found["machine"]]
    if "network" in found:
        parts.append("network " + _counts(found["network"]))
        hosts = {_EARLIER.get(each, each): n for each, n in found["hosts"].items()}
        parts += [f"hosts {_counts(hosts)}"] if hosts else []
        low, high = found["lateness_p99_us"]
        parts.append(f"p99 lateness {low:g} to {high:g} µs")
    return "; ".join(parts)


def _counts(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    if len(counts) == 1:
        return f"{next(iter(counts))} ({total} of {total} runs)"
    return ", ".join(f"{name} {count} of {total}" for name, count in counts.items())
