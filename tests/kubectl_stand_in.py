"""A substitute for kubectl, without a cluster: pods are places of this machine, described in a folder.

``write`` makes a command of it. The folder has ``pods.json``: for each pod the command that runs programs in
its place, and its address; ``job.json`` while there is a Job; ``asked``, a line for each call; and what goes
wrong: ``refuses`` (what it says and fails with), ``waiting`` (why containers wait), ``unscheduled`` and
``event`` (the texts of these).
"""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def write(folder: Path, pods: list[Json]) -> Path:
    """A directory with a ``kubectl`` whose pods are ``pods``."""
    (folder / "pods.json").write_text(json.dumps(pods))
    bin_ = folder / "bin"
    bin_.mkdir()
    command = bin_ / "kubectl"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return bin_


def main() -> int:
    folder, words = Path(sys.argv[1]), [word for word in sys.argv[2:] if not word.startswith("--namespace=")]
    with (folder / "asked").open("a") as file:
        file.write(" ".join(words[:2]) + "\n")
    if (refuses := _text(folder, "refuses")) is not None:
        print(refuses, file=sys.stderr)
        return 1
    job = folder / "job.json"
    match words:
        case ["create", "-f", "-"]:
            job.write_text(sys.stdin.read())
        case ["get", "pods", "-l", label, "-o", "json"]:
            wanted = json.loads(job.read_text())
            assert label == f"longhaul.run={wanted['metadata']['name']}"
            print(
                json.dumps({"items": [_pod(folder, wanted, n) for n in range(wanted["spec"]["completions"])]})
            )
        case ["get", "events", *_]:
            event = _text(folder, "event")
            print(json.dumps({"items": [{"type": "Warning", "message": event}] if event else []}))
        case ["delete", "job", name, *_]:
            assert name == json.loads(job.read_text())["metadata"]["name"]
            job.unlink()
        case ["exec", "--stdin", "--tty=false", pod, "--", *command]:
            place = json.loads((folder / "pods.json").read_text())[int(pod.rpartition("-")[2])]["command"]
            os.execvp((place + command)[0], place + command)
        case _:
            raise AssertionError(words)
    return 0


def _pod(folder: Path, job: Json, number: int) -> Json:
    metadata = {
        "name": f"{job['metadata']['name']}-x-{number}",
        "annotations": {"batch.kubernetes.io/job-completion-index": str(number)},
    }
    address = json.loads((folder / "pods.json").read_text())[number]["address"]
    if (waiting := _text(folder, "waiting")) is not None:
        reason, _, message = waiting.partition(": ")
        state = {"waiting": {"reason": reason, "message": message}}
        status: Json = {"phase": "Pending", "containerStatuses": [{"ready": False, "state": state}]}
    elif (why := _text(folder, "unscheduled")) is not None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
        status = {"phase": "Pending", "conditions": [condition]}
    elif len((folder / "asked").read_text().splitlines()) < 4:
        status = {"phase": "Pending"}
    else:
        status = {"phase": "Running", "podIP": address, "containerStatuses": [{"ready": True, "state": {}}]}
    return {"metadata": metadata, "status": status}


def _text(folder: Path, name: str) -> str | None:
    path = folder / name
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
