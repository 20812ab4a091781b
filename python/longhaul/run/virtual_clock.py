"""Runs on the virtual clock: every host is a Linux kernel of its own, whose time the network decides."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from longhaul import _longhaul, storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import HostSettings, Node, Plan
from longhaul.run.congestion_control import HostKernel
from longhaul.scenario.check.names import expand_nodes
from longhaul.scenario.lower.main_tables import interfaces_of
from longhaul.subprocesses import python_command

if TYPE_CHECKING:
    from longhaul.diagnostics import Diagnostic
    from longhaul.kernels.cache import Kernel
    from longhaul.scenario import Resolved
    from longhaul.scenario.check.scenario import Scenario

Clock = Literal["real", "virtual"]

PROGRAMS_MEMORY_BYTES = 224 << 20
"""Memory of a host's programs, unless the scenario says otherwise. This machine gives only what they use."""
KERNEL_MEMORY_BYTES = 32 << 20
"""Memory of a host's kernel and agent, beside socket buffers."""
BUFFERS_PER_HOST = 8
"""So many of the largest socket buffers find room in a host. Its kernel gives half of its memory to TCP."""
MOST_BUFFERS_BYTES = 4 << 30
PATIENCE_S = 30
"""Real time in which a host computes and says nothing, after which the run tells so."""
_GUEST = "longhaul.run.guest"
_CONGESTION_CONTROL = re.compile(r"^CONFIG_TCP_CONG_([A-Z]+)=y$", re.MULTILINE)
_NAMES = {"hstcp": "highspeed"}
"""Congestion controls that are not called as their option is."""


@dataclass(frozen=True)
class VirtualClock:
    """The clock of a run whose hosts run this kernel."""

    kernel: "Kernel"
    cpu_speed: float | None = None
    """Of the hosts' processors, in those of this machine; ``None`` if computing takes no time."""
    remote_machines: "RemoteMachines | None" = None
    """Starts the machines of the hosts, if that is not this one."""

    @cached_property
    def host_kernel(self) -> HostKernel:
        """What the hosts' kernel can do for TCP."""
        return HostKernel(has=_congestion_controls(self.kernel).__contains__, loads=False)

    def accepted(self, resolved: "Resolved") -> "Resolved":
        """What of a scenario is run. Raises ScenarioError for what cannot be."""
        if problems := list(refused(resolved, otherwise="run it without --clock virtual")):
            from longhaul.scenario import ScenarioError

            raise ScenarioError(problems)
        return resolved

    @contextmanager
    def orders(self, plan: Plan, directory: Path) -> Iterator[dict[str, Any]]:
        """The arguments of the worker about the kernels of the run in ``directory``.

        Among it is a directory that is there within the block, as are the hosts' machines.
        """
        from longhaul.run.cleanup import temporary_prefix

        with (
            tempfile.TemporaryDirectory(
                prefix=temporary_prefix("kernels"), ignore_cleanup_errors=True
            ) as place,
            self._orders(plan, directory, Path(place), stays_up=False) as orders,
        ):
            yield orders

    @contextmanager
    def standing_orders(self, plan: Plan, directory: Path) -> Iterator[dict[str, Any]]:
        """The same for a network that stays up, as do the machines.

        The worker removes the directory, unless the block fails.
        """
        from longhaul.run.cleanup import temporary_prefix

        place = Path(tempfile.mkdtemp(prefix=temporary_prefix("kernels")))
        try:
            with self._orders(plan, directory, place, stays_up=True) as orders:
                yield orders
        except BaseException:
            storage.discard(place)
            raise

    @contextmanager
    def _orders(
        self, plan: Plan, directory: Path, place: Path, *, stays_up: bool
    ) -> Iterator[dict[str, Any]]:
        orders = {**self.host_orders(plan), **kernel_orders(self.kernel.binary, place)}
        if self.remote_machines is None:
            yield orders
            return
        with self.remote_machines(self, plan, directory, stays_up=stays_up) as machines:
            yield {**orders, "machines": machines}

    def host_orders(self, plan: Plan) -> dict[str, Any]:
        """What is equal for the hosts of all machines."""
        return {
            "memory_bytes": [memory_of_host(node) for node in plan["nodes"]],
            "cpu_scale": 0 if self.cpu_speed is None else round(1000 / self.cpu_speed),
            "patience_s": PATIENCE_S,
        }

    def as_json(self) -> dict[str, Any]:
        """For the run's record: which kernel it was, and how fast the hosts' processors."""
        kernel = self.kernel
        record = {"name": kernel.name, "release": kernel.release, "sha256": kernel.sha256}
        return record if self.cpu_speed is None else {**record, "cpu_speed": self.cpu_speed}


class RemoteMachines(Protocol):
    """Other machines, on which the hosts' kernels run."""

    def __call__(
        self, clock: VirtualClock, plan: Plan, directory: Path, *, stays_up: bool
    ) -> AbstractContextManager[Sequence[Mapping[str, Any]]]:
        """The machines for the run in ``directory``, as arguments of its worker.

        They have ended after the block; if they are to stay up, only after an error.
        """


PlaceHosts = Callable[["Resolved", Plan], RemoteMachines]
"""Distributes the hosts of a scenario over machines."""


def kernel_orders(binary: Path, place: Path) -> dict[str, Any]:
    """What belongs to this machine: its copy of the kernel, and a directory to meet the kernels in."""
    return {"file": str(binary), "init": first_process(_GUEST), "directory": str(place), "machines": []}


def refused(resolved: "Resolved", *, otherwise: str) -> Iterator["Diagnostic"]:
    """What of a scenario hosts on the virtual clock cannot do, each where it is written.

    ``otherwise``: how to run it with all of that.
    """
    nodes, scenario = resolved.plan["nodes"], resolved.scenario
    keys = expand_nodes(scenario.document)

    def problem(host: str, key: str | None, message: str, remedy: str) -> "Diagnostic":
        path = [each for each in ("nodes", keys.get(host), key) if each is not None]
        return scenario.problem(Code.NOT_VIRTUAL, tuple(path), message, f"{remedy}, or {otherwise}")

    for node in nodes:
        name = node["name"]
        for key in _refused_settings(node.get("settings") or {}):
            yield problem(name, key, f"a host on the virtual clock cannot have {key}", f"remove {key}")
        if "port" in node:
            message = "a host on the virtual clock is a kernel of its own, and has no port"
            yield problem(name, "port", message, "remove the port")
    most = _longhaul.MOST_CARDS
    for host, own in interfaces_of(nodes).items():
        if len(own) > most:
            name = nodes[host]["name"]
            message = f"a host on the virtual clock has at most {most} links, and {name} has {len(own)}"
            yield problem(name, None, message, "put a router between the host and its links")


def _refused_settings(settings: HostSettings) -> Iterator[str]:
    """Keys of a host, as the scenario has them."""
    root: Mapping[str, Any] = settings.get("root") or {}
    keys = {"keep_files": "keep_files" in root}
    keys |= {"cpu": "cpu_millicores" in settings}
    return (key for key, is_there in keys.items() if is_there)


def memory_of_host(node: Node) -> int:
    """Memory of a host of a plan, in bytes: so much that its kernel drops nothing for want of it."""
    largest = int(node["sysctls"].get("net.ipv4.tcp_rmem", "0").split()[-1])
    programs = (node.get("settings") or {}).get("memory_bytes") or PROGRAMS_MEMORY_BYTES
    return KERNEL_MEMORY_BYTES + programs + min(BUFFERS_PER_HOST * largest, MOST_BUFFERS_BYTES)


def clock_of(clock: Clock, scenario: "Scenario", kernel: str | None = None) -> VirtualClock | None:
    """The :func:`virtual_clock` on which a scenario runs; ``None`` for the real one."""
    return virtual_clock(scenario, kernel) if clock == "virtual" else None


def virtual_clock(scenario: "Scenario", kernel: str | None = None) -> VirtualClock:
    """The virtual clock of a scenario.

    The hosts' kernel is that of version ``kernel``, or else of the scenario's, or else the newest. Raises
    LonghaulError without such a kernel, with its place in the scenario if that names it.
    """
    from longhaul.kernels.cache import find

    try:
        chosen = find(kernel or scenario.document.kernel)
    except LonghaulError as error:
        if kernel is not None or scenario.document.kernel is None:
            raise
        raise _placed(error, scenario) from None
    cpu = scenario.document.cpu
    return VirtualClock(chosen, cpu_speed=None if cpu is None else cpu.speed)


def _placed(error: LonghaulError, scenario: "Scenario") -> LonghaulError:
    """The same error at the scenario's ``kernel``."""
    from longhaul.scenario import ScenarioError

    placed = ScenarioError([scenario.problem(error.code, ("kernel",), error.message, error.remedy)])
    placed.exit_code = error.exit_code
    return placed


def first_process(module: str, *arguments: str) -> list[str]:
    """What a kernel starts as its first process, by its command line: a module of ours with arguments.

    Raises LonghaulError if a space keeps it from there.
    """
    # An empty argument would vanish from a kernel's command line.
    init = [argument or os.pathsep for argument in python_command(module, *arguments)]
    if any(character.isspace() for argument in init for character in argument):
        raise LonghaulError(
            Code.NOT_VIRTUAL,
            f"a path on a kernel's command line contains a space: {' '.join(init)}",
            remedy="use directories without spaces in their names, for Longhaul, its Python and the runs",
            exit_code=3,
        )
    return init


def ignored_keys(scenario: "Scenario") -> tuple["Diagnostic", ...]:
    """A warning of each key that matters on the virtual clock only, for a scenario that runs on another."""
    message = "has an effect on the virtual clock only: the real clock and the simulator ignore it"
    remedy = "add --clock virtual, or leave it out"
    return tuple(
        scenario.warning(Code.VIRTUAL_CLOCK_ONLY, (key,), message, remedy)
        for key in ("kernel", "cpu")
        if getattr(scenario.document, key) is not None
    )


def _congestion_controls(kernel: "Kernel") -> frozenset[str]:
    """Those that a kernel was built with."""
    from longhaul.kernels.cache import CONFIG

    options = _CONGESTION_CONTROL.findall((kernel.directory / CONFIG).read_text(encoding="utf-8"))
    return frozenset({"reno", *(_NAMES.get(name.lower(), name.lower()) for name in options)} - {"advanced"})
