"""What the ports of a scenario name on a machine: namespaces, containers and network interfaces."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.devices import Device, require_device
from longhaul.subprocesses import program

if TYPE_CHECKING:
    from longhaul.diagnostics import Diagnostic
    from longhaul.scenario import Resolved

NAMED = Path("/run/netns")
"""Where ``ip netns`` keeps namespaces."""
OWN = Path("/proc/self/ns/net")
DEVICES = ("nic:", "tap:")
"""How places of network interfaces begin."""
EXIT_CANNOT = 3
_TIMEOUT_S = 30.0
_NEEDS_ROOT = "run it with --sudo or as root: an unprivileged user has no access to it"


@dataclass(frozen=True)
class WantedPort:
    """What a host of the scenario has at its end of the network, on the machine that the host is on."""

    node: int
    """Position of the host in the plan."""
    host: str
    place: str
    """As the short form of ``port:`` has it: ``netns:blue``, ``podman:web``, ``nic:eth1``."""
    force: bool
    """Of a device: whether it may carry the default route of the machine."""
    mtu: int


@dataclass(frozen=True)
class Place:
    """The network namespace in which a host has its interfaces."""

    node: int
    """Position of the host in the plan."""
    name: str
    """In messages."""
    path: str
    pid: int | None
    """The process that the namespace belongs to."""


def require(
    resolved: "Resolved", *, sudo: bool = False, on_machines: bool = False
) -> list[Mapping[str, Any]]:
    """The namespaces of the hosts that have their interfaces in one, for the worker.

    With ``on_machines``, each of several machines looks for its own with :func:`places_of`. Raises
    ScenarioError with the place of each port that cannot be used.
    """
    places: list[Mapping[str, Any]] = []
    problems: list[Diagnostic] = []
    users: dict[str, str] = {}
    for path, port in () if on_machines else _ports(resolved):
        if users.setdefault(port.place, port.host) != port.host:
            message = f"{port.place} is already the port of {users[port.place]} on this machine"
            remedy = "run it on the machines that place: names, with --on"
            problems.append(resolved.scenario.problem(Code.PORT_INVALID, path, message, remedy))
            continue
        try:
            places += places_of([port], sudo=sudo)
        except LonghaulError as error:
            problems.append(resolved.scenario.problem(error.code, path, error.message, error.remedy))
    problems += _settings(resolved)
    problems += _real_traffic(resolved)
    if problems:
        from longhaul.scenario import ScenarioError

        refused = ScenarioError(problems)
        refused.exit_code = EXIT_CANNOT
        raise refused
    return places


def wanted(resolved: "Resolved") -> list[tuple[WantedPort, str]]:
    """All ports of the scenario, each with the machine that it is of in a run on several.

    Raises ScenarioError for those without one.
    """
    from longhaul.scenario.check.names import machine_named

    found: list[tuple[WantedPort, str]] = []
    problems: list[Diagnostic] = []
    for path, port in _ports(resolved):
        machine = machine_named(resolved.scenario.document, str(path[1]))
        if machine is None:
            message = f"{port.place} is of one machine, and nothing says of which"
            remedy = f"write place: MACHINE at {port.host} or at its router"
            problems.append(resolved.scenario.problem(Code.PORT_INVALID, path, message, remedy))
        else:
            found.append((port, machine))
    if problems:
        from longhaul.scenario import ScenarioError

        raise ScenarioError(problems)
    return found


def places_of(
    ports: Sequence[WantedPort], *, sudo: bool = False, peers: Sequence[str] = ()
) -> list[Mapping[str, Any]]:
    """The namespaces among ``ports`` of this machine, for the worker.

    ``peers`` are addresses of other machines of the run. Raises LonghaulError if a port cannot be used.
    """
    places: list[Mapping[str, Any]] = []
    for port in ports:
        _require_root(sudo=sudo)
        if port.place.startswith(DEVICES):
            kind, _, name = port.place.partition(":")
            require_device(Device(name, kind == "tap", port.force), port.mtu, peers=peers)
        else:
            places.append(asdict(_place(port)))
    return places


def _ports(resolved: "Resolved") -> Iterator[tuple[tuple[str | int, ...], WantedPort]]:
    """Each port with its place in the file."""
    from longhaul.scenario.syntax.ranges import expand

    nodes = resolved.plan["nodes"]
    index = {node["name"]: position for position, node in enumerate(nodes)}
    for key, node in resolved.scenario.document.nodes.items():
        if node.port is not None:
            for name in expand(key):
                force = getattr(node.port, "force", False)
                mtu = nodes[index[name]]["mtu"]
                yield ("nodes", key, "port"), WantedPort(index[name], name, node.port.place, force, mtu)


def _settings(resolved: "Resolved") -> "list[Diagnostic]":
    """Kernel settings of namespaces that are not the run's own."""
    message = "the run does not change kernel settings of a namespace that is not its own"
    return [
        resolved.scenario.problem(
            Code.PORT_INVALID, ("nodes", key, "tcp"), message, "set them there, and remove tcp from this host"
        )
        for key, node in resolved.scenario.document.nodes.items()
        if node.tcp is not None and node.port is not None
    ]


def _real_traffic(resolved: "Resolved") -> "list[Diagnostic]":
    """Traffic that programs behind a device would have to send or receive; the gateway answers pings."""
    places = {port.node: port.place for _, port in _ports(resolved)}
    devices = {node: place for node, place in places.items() if place.startswith(DEVICES)}
    found = []
    for item in resolved.traffic:
        if item["simulated"]:
            continue
        ends = [item["source"], *(item["destinations"] if item["kind"] != "ping" else ())]
        wrong = next((end for end in ends if end in devices), None)
        if wrong is not None:
            name = resolved.plan["nodes"][wrong]["name"]
            message = f"{name} stands for the hosts behind {devices[wrong]}, where Longhaul starts nothing"
            remedy = "start the traffic there yourself, or add simulated: true"
            found.append(
                resolved.scenario.problem(Code.NODE_KIND, ("traffic", item["name"]), message, remedy)
            )
    return found


def _require_root(*, sudo: bool) -> None:
    if os.geteuid() != 0 and not sudo:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, "needs root of this machine", remedy=_NEEDS_ROOT, exit_code=EXIT_CANNOT
        )


def _place(port: WantedPort) -> Place:
    """Where the interfaces will be. Raises LonghaulError."""
    if port.place.startswith("netns:"):
        place = _named(port)
    else:
        pid = _process_of(port.place)
        place = Place(port.node, port.place, f"/proc/{pid}/ns/net", pid)
    try:
        is_own = os.path.samestat(os.stat(place.path), os.stat(OWN))
    except OSError as error:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, f"cannot open {place.path}: {error.strerror}", remedy=_NEEDS_ROOT
        ) from error
    if is_own:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"{port.place} uses the network of this machine",
            remedy="start it with a network of its own, for example: podman run --network none ...",
        )
    return place


def _named(port: WantedPort) -> Place:
    name = port.place.removeprefix("netns:")
    named = NAMED / name
    if named.exists():
        return Place(port.node, port.place, str(named), None)
    if name.isdecimal():
        if Path("/proc", name).exists():
            return Place(port.node, port.place, f"/proc/{name}/ns/net", int(name))
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"there is no process {name}",
            remedy="write the number of a process that runs",
        )
    raise LonghaulError(
        Code.PORT_UNAVAILABLE,
        f'there is no network namespace "{name}"',
        remedy=f"sudo ip netns add {name}",
    )


def _process_of(container: str) -> int:
    """The first process of a container that runs. Raises LonghaulError."""
    engine, _, name = container.partition(":")
    read: Callable[[str], tuple[bool, int]] = _of_pod if engine == "k8s" else _OfEngine(engine)
    runs, pid = read(name)
    if not runs or pid <= 0:
        start = "start the pod" if engine == "k8s" else f"{engine} start {name}"
        raise LonghaulError(Code.PORT_UNAVAILABLE, f"{container} does not run", remedy=start)
    return pid


@dataclass(frozen=True)
class _OfEngine:
    engine: str

    def __call__(self, name: str) -> tuple[bool, int]:
        """Whether the container runs, and its process."""
        state = _inspect([self.engine, "inspect", "--type", "container", name], f"{self.engine}:{name}")[0][
            "State"
        ]
        return state.get("Running", state.get("Status") == "running"), int(state.get("Pid") or 0)


def _of_pod(name: str) -> tuple[bool, int]:
    """Whether a pod of Kubernetes on this machine runs, and the process of its sandbox."""
    space, _, pod = name.rpartition("/")
    chosen = ["--namespace", f"^{space}$"] if space else []
    found = _inspect(["crictl", "pods", "--name", f"^{pod}$", *chosen, "--output", "json"], f"k8s:{name}")
    items = [each for each in found.get("items", ()) if each["metadata"]["name"] == pod]
    if not items:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE, f"there is no pod {name} on this machine", remedy="crictl pods lists them"
        )
    ready = [each for each in items if each.get("state") == "SANDBOX_READY"]
    if len({each["metadata"].get("namespace") for each in ready}) > 1:
        spaces = ", ".join(sorted(each["metadata"]["namespace"] for each in ready))
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"several namespaces have a pod {pod}: {spaces}",
            remedy=f"write k8s:NAMESPACE/{pod}",
        )
    if not ready:
        return False, 0
    sandbox = _inspect(["crictl", "inspectp", "--output", "json", ready[0]["id"]], f"k8s:{name}")
    return True, int(sandbox["info"].get("pid") or 0)


def _inspect(command: list[str], what: str) -> Any:
    """The JSON that a container engine prints. Raises LonghaulError if it does not."""
    executable = program(command[0], package={"docker": "docker.io", "crictl": "cri-tools"}.get(command[0]))
    try:
        done = subprocess.run(
            [executable, *command[1:]], capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"{command[0]} does not answer: {error}",
            remedy=f"try: {' '.join(command)}",
        ) from error
    try:
        if done.returncode != 0:
            raise ValueError
        return json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or ["it printed something else than JSON"]
        raise LonghaulError(
            Code.PORT_UNAVAILABLE,
            f"cannot inspect {what}: {lines[-1]}",
            remedy=f"{'crictl pods' if what.startswith('k8s') else f'{command[0]} ps -a'} lists them",
        ) from None
