"""Run directories: ``runs/NAME/<utc>-<mode>-<hash>/``, with ``latest`` and ``latest-<mode>`` beside them."""

import errno
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from longhaul import json_text, processes, storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.results import ending, run_record
from longhaul.results.certificate import processor

if TYPE_CHECKING:
    from longhaul.scenario import Resolved


def create(
    root: Path,
    name: str,
    *,
    mode: str,
    source: bytes,
    plan: Plan,
    argv: list[str],
    files: Mapping[str, bytes] | None = None,
) -> Path:
    """Make a new run directory: scenario, ``files`` that it names, plan, beginnings of ``run.json``."""
    plan_text = json_text.written(plan).decode()
    digest = hashlib.sha256(source + plan_text.encode()).hexdigest()
    now = datetime.now(UTC)
    with created(root / name, f"{now:%Y%m%dT%H%M%SZ}-{mode}-{digest[:8]}", mode=mode) as new:
        _fill(
            new.part,
            name,
            now=now,
            mode=mode,
            source=source,
            plan=plan,
            plan_text=plan_text,
            argv=argv,
            files=files or {},
        )
    return new.directory


def _fill(
    directory: Path,
    name: str,
    *,
    now: datetime,
    mode: str,
    source: bytes,
    plan: Plan,
    plan_text: str,
    argv: list[str],
    files: Mapping[str, bytes],
) -> None:
    storage.make_directory(directory / "raw")
    storage.make_directory(directory / "logs")
    storage.replace_bytes(directory / "scenario.yaml", source)
    storage.replace_text(directory / "plan.json", plan_text)
    kept = {name: _keep(directory, name, content) for name, content in files.items()}
    digests = {place: hashlib.sha256(files[name]).hexdigest() for name, place in kept.items()}
    run_record.reserve(directory)
    run_record.write(
        directory / "run.json",
        {
            "status": ending.RUNNING,
            "reason": None,
            "processes": {"client": processes.identify()},
            "mode": mode,
            "name": name,
            "argv": argv,
            "started": now.isoformat(timespec="seconds"),
            "versions": {"longhaul": version("longhaul"), "python": platform.python_version()},
            "host": machine(),
            "seed": plan["seed"],
            "inputs": {"scenario.yaml": hashlib.sha256(source).hexdigest(), **digests},
            "files": kept,
        },
    )


def create_for(
    resolved: "Resolved",
    *,
    runs: Path,
    name: str | None,
    mode: str,
    plan: Plan,
    argv: list[str],
    rows: Sequence[Mapping[str, Any]],
) -> Path:
    """Make the run directory of a scenario, with what its results and report will ask of it in ``raw/``.

    ``rows`` tell whose flows those of the plan are.
    """
    directory = create(
        runs,
        name or plan["name"],
        mode=mode,
        source=resolved.source,
        plan=plan,
        argv=argv,
        files=resolved.files(),
    )
    with ending.recorded(directory):
        for what, content in (
            ("traffic", rows),
            ("expectations", [dict(item) for item in resolved.expectations]),
            ("program_metrics", resolved.scenario.program_metrics()),
            ("positions", dict(resolved.positions)),
            ("functions", dict(resolved.functions)),
            ("spots", dict(resolved.scenario.spots)),
        ):
            storage.replace_json(directory / "raw" / f"{what}.json", content)
        update_run(directory, variant=variant_of(resolved), settings=dict(resolved.scenario.settings))
    return directory


def variant_of(resolved: "Resolved") -> str:
    """A hash of all that a scenario asks for but its seed: equal for repetitions, and only for them."""

    def without_start(item: Mapping[str, Any]) -> dict[str, Any]:
        # Random starts follow from the seed.
        return {**item, "start_ns": None} if item["name"] in resolved.starts else dict(item)

    plan: dict[str, Any] = {key: value for key, value in resolved.plan.items() if key != "seed"}
    asked = {
        "plan": {**plan, "programs": [without_start(each) for each in plan["programs"]]},
        "traffic": [without_start(item) for item in resolved.traffic],
        "jobs": [without_start(job) for job in resolved.jobs],
        "tcp": {str(node): tcp for node, tcp in resolved.tcp.items()},
        "starts": dict(resolved.starts),
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()


def variant_of_run(directory: Path) -> str:
    """The same of a run; one that does not say has the hash of its plan without the seed."""
    told = read_run(directory).get("variant")
    if told is not None:
        return str(told)
    plan = {key: value for key, value in read_plan(directory).items() if key != "seed"}
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def read_run(directory: Path) -> dict[str, Any]:
    """The contents of ``run.json``. Raises OSError and run_record.DamagedRecordError."""
    return run_record.read(directory / "run.json")


def read_plan(directory: Path) -> Plan:
    """The contents of ``plan.json``. Raises OSError and run_record.DamagedRecordError."""
    return cast("Plan", run_record.read(directory / "plan.json"))


def update_run(directory: Path, **changes: Any) -> None:
    """Change some fields of ``run.json``."""
    run_record.update(directory / "run.json", **changes)


def _keep(directory: Path, name: str, content: bytes) -> str:
    """Copy an input file that the scenario calls ``name`` into ``inputs/``; returns its place there."""
    if not (directory / "inputs").is_dir():
        storage.make_directory(directory / "inputs")
    place = f"inputs/{Path(name).name}"
    if (directory / place).exists() and (directory / place).read_bytes() != content:
        place = f"inputs/{hashlib.sha256(content).hexdigest()[:8]}-{Path(name).name}"
    storage.replace_bytes(directory / place, content)
    return place


@dataclass
class NewDirectory:
    """A directory while it is filled, and afterwards."""

    part: Path
    """Its path while it is filled."""
    directory: Path
    """Its path after that."""


@contextmanager
def created(parent: Path, name: str, *, mode: str | None = None) -> Iterator[NewDirectory]:
    """A new directory in ``parent``, which has its name once the block has filled it.

    After an error it is removed. If ``name`` exists, a number is appended. ``latest`` leads to the new
    directory. Unfinished directories of killed processes are removed from ``parent``. Raises LonghaulError if
    the directory cannot be made.
    """
    for path in unfinished(parent):
        storage.discard(path)
    part = parent / storage.part_name(f"{name}.{_host()}")
    try:
        storage.make_directory(part)
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"cannot make {parent / name}: {error.strerror}",
            remedy="name another place with --runs",
            exit_code=2,
        ) from error
    new = NewDirectory(part, part)
    try:
        yield new
        _publish(new, parent, name)
        point_latest(parent, new.directory, mode=mode)
    except BaseException as error:
        shutil.rmtree(new.directory, ignore_errors=True)
        if isinstance(error, OSError) and isinstance(error.filename, str):
            # Users know the directory by this name alone.
            error.filename = error.filename.replace(str(part), str(parent / name))
        raise


def unfinished(parent: Path) -> list[Path]:
    """Directories that killed processes of this machine did not fill, and links that they did not rename."""
    found = []
    for path in parent.glob(".*.part"):
        part = storage.part_of(path)
        is_ours = part is not None and (path.is_symlink() or part[0].endswith(f".{_host()}"))
        if part is not None and is_ours and not processes.is_running(part[1]):
            found.append(path)
    return found


def _host() -> str:
    return platform.node().replace(".", "-")


def _publish(new: NewDirectory, parent: Path, name: str) -> None:
    """Rename a directory to ``name``, or to the first name behind it that nobody has."""
    for attempt in range(100):
        directory = parent / (name if attempt == 0 else f"{name}-{attempt}")
        if directory.exists():
            continue
        try:
            storage.current().rename(new.part, directory)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                continue
            raise
        new.directory = directory
        storage.current().sync_directory(parent)
        return
    raise LonghaulError(Code.INTERNAL, f"cannot find a free name beside {parent / name}", exit_code=70)


def machine() -> dict[str, Any]:
    """What results may depend on, though they should not."""
    return {
        "name": platform.node(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "cpu_model": processor(),
    }


def point_latest(parent: Path, directory: Path, *, mode: str | None = None) -> None:
    """Make ``latest`` in ``parent`` lead to ``directory``, and ``latest-<mode>``, unmoved by other modes."""
    for name in ("latest", *((f"latest-{mode}",) if mode else ())):
        storage.replace_link(parent / name, directory.name)


def latest_of(path: Path, *, mode: str) -> str:
    """What to write instead of ``path`` for the latest run of a mode beside it, if there is one."""
    parent = path.absolute().parent if path.name.startswith("latest") else path.resolve().parent
    link = parent / f"latest-{mode}"
    return f"the latest {mode} run is {path.parent / link.name}" if link.exists() else ""
