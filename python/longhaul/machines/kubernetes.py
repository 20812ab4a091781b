"""Pods of Kubernetes as the machines of a run: kubectl makes them, reaches them, and removes them.

A Job has as many pods as the description says. They wait, and agents start in them with ``kubectl exec``. The
Job ends by itself after ``lifetime``, also if nobody removes it.
"""

import json
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from longhaul import json_text, log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines.hostfile import MOST_MACHINES, Machine
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.subprocesses import find_program
from longhaul.units.quantities import Size, Span, UnitError
from longhaul.units.text import count_text

SUFFIXES = (".yaml", ".yml")
"""Of files that describe pods."""
_KEYS = ("kind", "pods", "image", "namespace", "cpu", "memory", "python", "lifetime", "within")
_EXAMPLE = "write for example {kind: kubernetes, pods: 4, image: registry.example/longhaul:1.0, cpu: 8}"
_MOST_BYTES = 1 << 20
_LABEL = "longhaul.run"
_INDEX = "batch.kubernetes.io/job-completion-index"
_HOPELESS = (
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
)
"""Why a container waits that will not start."""
_ANSWER_S = 60
"""For kubectl to answer."""
_BETWEEN_S = 1.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Description:
    """Which pods a run asks for."""

    pods: int
    image: str
    """Has Longhaul, in the version of this machine, and what the scenario's programs need."""
    namespace: str | None = None
    """``None``: that of kubectl's context."""
    cpu: int | None = None
    """CPU cores of each pod; ``None``: what there is."""
    memory_bytes: int | None = None
    """Memory of each pod; ``None``: what there is."""
    python: str = "python3"
    """The interpreter in the image that has Longhaul."""
    lifetime_s: int = 4 * 3600
    """After which the pods end, whatever happens."""
    within_s: int = 300
    """For all pods to start."""


def description_of(path: Path) -> Description:
    """What a YAML file says about the pods of a run. Raises LonghaulError."""
    try:
        content = yaml.safe_load(read_regular(path, most_bytes=_MOST_BYTES))
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNREADABLE,
            f"cannot read {path}: {error.strerror or error}",
            remedy="name a YAML file that describes pods",
            exit_code=2,
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _wrong(f"{path} is not YAML: {str(error).splitlines()[0]}", _EXAMPLE) from error
    if not isinstance(content, Mapping) or content.get("kind") != "kubernetes":
        raise _wrong(f"{path}: does not say kind: kubernetes", _EXAMPLE)
    unknown = next((key for key in content if key not in _KEYS), None)
    if unknown is not None:
        raise _wrong(f'{path}: there is no key "{unknown}"', did_you_mean(str(unknown), _KEYS))
    read = _Reader(path, content)
    return Description(
        pods=read.number("pods", least=2, most=MOST_MACHINES, required=True) or 0,
        image=read.text("image", required=True) or "",
        namespace=read.text("namespace"),
        cpu=read.number("cpu", most=4096),
        memory_bytes=read.quantity("memory", Size, "8GiB"),
        python=read.text("python") or "python3",
        lifetime_s=(read.quantity("lifetime", Span, "4h") or 4 * 3600 * 10**9) // 10**9,
        within_s=(read.quantity("within", Span, "5min") or 300 * 10**9) // 10**9,
    )


@dataclass(frozen=True)
class _Reader:
    """Reads the keys of a description, and names the file and the key of what is wrong."""

    path: Path
    content: Mapping[str, Any]

    def text(self, key: str, *, required: bool = False) -> str | None:
        value = self.content.get(key)
        if value is None and not required:
            return None
        # A word that begins with a dash would be an option of kubectl.
        if not isinstance(value, str) or not value or value.startswith("-") or len(value) > 1024:
            raise self._refused(key, "missing" if value is None else "not a name")
        return value

    def number(self, key: str, *, least: int = 1, most: int, required: bool = False) -> int | None:
        value = self.content.get(key)
        if value is None and not required:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._refused(key, "missing" if value is None else f"not a number from {least} to {most}")
        return value

    def quantity(self, key: str, kind: type[Size] | type[Span], example: str) -> int | None:
        value = self.content.get(key)
        if value is None:
            return None
        try:
            found = kind.parse(str(value))
        except UnitError as error:
            raise _wrong(f"{self.path}: {key}: {error}", f"write for example {key}: {example}") from error
        amount = found.bytes if isinstance(found, Size) else found.ns
        if amount < (1 if isinstance(found, Size) else 10**9):
            raise self._refused(key, "too small")
        return amount

    def _refused(self, key: str, why: str) -> LonghaulError:
        return _wrong(f"{self.path}: {key} is {why}", _EXAMPLE)


@dataclass(frozen=True)
class Pods:
    """The pods of one run, which exist until :meth:`remove`."""

    name: str
    """Of their Job, and their label."""
    namespace: str | None

    def remove(self) -> None:
        """Remove the Job with its pods. What kubectl says against it is a warning."""
        done = self.kubectl("delete", "job", self.name, "--ignore-not-found", "--wait=false")
        if done.returncode != 0:
            log.note(f"pods of job {self.name} may be left: {_reason(done)}; they end with their lifetime")

    def kubectl(self, *words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        """What kubectl did; a time-out counts as a failure."""
        command = [*_kubectl(self.namespace), *words]
        try:
            return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=_ANSWER_S)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, b"", b"kubectl does not answer")


@contextmanager
def removing(pods: Pods | None) -> Iterator[None]:
    """Remove pods, if there are any, after the block."""
    try:
        yield
    finally:
        if pods is not None:
            pods.remove()


@contextmanager
def pods_of_run(description: Description, *, keep: bool = False) -> Iterator[tuple[Pods, list[Machine]]]:
    """The pods of a new Job, and the machines that they are.

    They are removed after the block, with ``keep`` only after an error. Waits until all of them run. Raises
    LonghaulError with the reason why they do not.
    """
    if find_program("kubectl") is None:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            "pods of Kubernetes need kubectl, not found on this machine",
            remedy="install kubectl, and see that kubectl get pods works",
            exit_code=3,
        )
    pods = Pods(f"longhaul-{secrets.token_hex(4)}", description.namespace)
    made = pods.kubectl("create", "-f", "-", stdin=json_text.compact(manifest(pods.name, description)))
    if made.returncode != 0:
        raise _unreachable(f"Kubernetes makes no job: {_reason(made)}", "see that kubectl get pods works")
    has_failed = True
    try:
        yield pods, _await_running(pods, description)
        has_failed = False
    finally:
        if has_failed or not keep:
            pods.remove()


def manifest(name: str, description: Description) -> Json:
    """The Job of Kubernetes (batch/v1) whose pods wait for agents, one on each node if there are as many.

    They are privileged: hosts are network namespaces with TUN devices.
    """
    labels = {"app.kubernetes.io/name": "longhaul", _LABEL: name}
    resources: Json = {}
    if description.cpu is not None:
        resources["cpu"] = str(description.cpu)
    if description.memory_bytes is not None:
        resources["memory"] = str(description.memory_bytes)
    waits = f"trap 'exit 0' TERM; sleep {description.lifetime_s} & wait"
    container: Json = {
        "name": "longhaul",
        "image": description.image,
        # The first process of a pod takes the exit codes of what agents leave behind.
        "command": ["/bin/sh", "-c", waits],
        "securityContext": {"privileged": True},
        "resources": {"requests": resources, "limits": resources},
    }
    apart: Json = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {_LABEL: name}},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "completions": description.pods,
            "parallelism": description.pods,
            "completionMode": "Indexed",
            # A pod that is gone ends the run, and no other one takes its place.
            "backoffLimit": 0,
            "activeDeadlineSeconds": description.lifetime_s,
            "ttlSecondsAfterFinished": 60,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 2,
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "topologySpreadConstraints": [apart],
                    "containers": [container],
                },
            },
        },
    }


def _await_running(pods: Pods, description: Description) -> list[Machine]:
    """The machines, when all pods run. Raises LonghaulError."""
    log.note(f"job {pods.name}: waiting for {count_text(description.pods, 'pod')} of {description.image}")
    until_s = time.monotonic() + description.within_s
    while True:
        found = _listed(pods)
        ready = [each for each in found if _is_ready(each)]
        if len(ready) == description.pods:
            return [_machine(each, pods, description) for each in sorted(ready, key=_index)]
        for each in found:
            if (why := _hopeless(each)) is not None:
                raise _unreachable(f"pod {each['metadata']['name']} does not start: {why}", "fix the image")
        if time.monotonic() > until_s:
            why = f"{len(ready)} of {count_text(description.pods, 'pod')} run after {description.within_s} s"
            reason = next((text for each in found if (text := _unscheduled(each))), None) or _event(pods)
            raise _unreachable(
                f"{why}{f': {reason}' if reason else ''}", "ask for fewer or smaller pods, or a longer within"
            )
        time.sleep(_BETWEEN_S)


def _listed(pods: Pods) -> list[Json]:
    done = pods.kubectl("get", "pods", "-l", f"{_LABEL}={pods.name}", "-o", "json")
    if done.returncode != 0:
        raise _unreachable(f"Kubernetes lists no pods: {_reason(done)}", "see that kubectl get pods works")
    found: list[Json] = json.loads(done.stdout)["items"]
    return found


def _machine(pod: Json, pods: Pods, description: Description) -> Machine:
    name = pod["metadata"]["name"]
    command = (*_kubectl(pods.namespace), "exec", "--stdin", "--tty=false", name, "--")
    return Machine(
        name=f"pod{_index(pod)}",
        command=command,
        address=pod["status"]["podIP"],
        cores=description.cpu,
        python=description.python,
    )


def _index(pod: Json) -> int:
    metadata = pod["metadata"]
    places = {**metadata.get("annotations", {}), **metadata.get("labels", {})}
    return int(places.get(_INDEX, 0))


def _is_ready(pod: Json) -> bool:
    status = pod["status"]
    containers: Sequence[Json] = status.get("containerStatuses", ())
    is_running = status.get("phase") == "Running" and all(each.get("ready") for each in containers)
    return bool(is_running and containers and status.get("podIP"))


def _hopeless(pod: Json) -> str | None:
    """Why a pod will never run."""
    status = pod["status"]
    if status.get("phase") in ("Failed", "Succeeded"):
        return str(status.get("message") or status.get("reason") or "it has ended")
    for each in status.get("containerStatuses", ()):
        waiting = each.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in _HOPELESS:
            return f"{waiting['reason']}: {waiting.get('message', '')}".rstrip(": ")
    return None


def _unscheduled(pod: Json) -> str | None:
    """Why a pod has no node yet."""
    for each in pod["status"].get("conditions", ()):
        if each.get("type") == "PodScheduled" and each.get("status") == "False":
            return str(each.get("message") or each.get("reason"))
    return None


def _event(pods: Pods) -> str | None:
    """The last warning about the Job: a policy may forbid its pods."""
    done = pods.kubectl("get", "events", "--field-selector", f"involvedObject.name={pods.name}", "-o", "json")
    events = json.loads(done.stdout)["items"] if done.returncode == 0 else []
    warnings = [each["message"] for each in events if each.get("type") == "Warning" and each.get("message")]
    return warnings[-1] if warnings else None


def _kubectl(namespace: str | None) -> tuple[str, ...]:
    chosen = () if namespace is None else (f"--namespace={namespace}",)
    return (find_program("kubectl") or "kubectl", *chosen)


def _reason(done: "subprocess.CompletedProcess[bytes]") -> str:
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"kubectl ends with exit code {done.returncode}"


def _wrong(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.CLUSTER_DESCRIPTION, message, remedy=remedy, exit_code=2)


def _unreachable(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.CLUSTER_UNREACHABLE, message, remedy=remedy, exit_code=3)
