"""Congestion-control algorithms of a live run: the kernel's own, and those that are loaded for the run."""

import json
import platform
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul import _longhaul
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Loaded, Node, Plan
from longhaul.run.flows import algorithm_problems, configured_algorithms
from longhaul.scenario.lower.congestion_control import CC_SYSCTL, DEFAULT_CC
from longhaul.units.text import few_text

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Json = dict[str, Any]

LOADABLE = tuple(name for name, _ in _longhaul.bpf_algorithms(load=False))
"""Algorithms that Longhaul can load into a kernel."""
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_NAME_BYTES = 15


@dataclass(frozen=True)
class HostKernel:
    """The kernel that the hosts of a run use."""

    has: Callable[[str], bool]
    """Whether it has a congestion control of this name."""
    loads: bool
    """Whether others can be loaded into it."""


class LoadedAlgorithms:
    """Algorithms that are loaded for the run, each under a name that no other run has."""

    def __init__(self, kernel: HostKernel) -> None:
        """None so far."""
        self._kernel = kernel
        self._names: dict[str, str] = {}
        self._suffix = secrets.token_hex(2)

    def name(self, algorithm: Mapping[str, Any]) -> str:
        """The name of this algorithm in the kernel."""
        if not needs_loading(algorithm, self._kernel):
            return str(algorithm["algorithm"])
        text = json.dumps(algorithm, sort_keys=True)
        if text not in self._names:
            # Names are the whole machine's, and may be as long as this one is.
            number = len(self._names)
            suffix = f"{int(self._suffix, 16) + number & 0xFFFF:04x}"
            self._names[text] = f"{str(algorithm['algorithm'])[: _NAME_BYTES - 5]}_{suffix}"
        return self._names[text]

    def plan(self) -> list[Loaded]:
        """The algorithms as the plan has them."""
        return [{"name": name, "cc": json.loads(text)} for text, name in self._names.items()]


def needs_loading(algorithm: Mapping[str, Any], kernel: HostKernel) -> bool:
    """Whether this algorithm must be loaded: ``kernel`` lacks it, or parameters are configured."""
    return (
        kernel.loads
        and algorithm["algorithm"] in LOADABLE
        and (len(algorithm) > 1 or not kernel.has(str(algorithm["algorithm"])))
    )


def available() -> list[str]:
    """Congestion controls that the kernel has at hand."""
    return _AVAILABLE.read_text(encoding="ascii").split() if _AVAILABLE.is_file() else []


def kernel_has(name: str) -> bool:
    """Whether the kernel has a congestion control of this name, or a module with one."""
    if name in available():
        return True
    modules = Path("/lib/modules", platform.release(), "modules.dep")
    wanted = re.compile(rf"/tcp_{re.escape(name)}\.ko(\.\w+)?:")
    return modules.exists() and wanted.search(modules.read_text(encoding="utf-8")) is not None


THIS_MACHINE = HostKernel(has=kernel_has, loads=True)
"""The kernel of hosts that are namespaces."""


def default_concerns(plan: Plan) -> "list[Diagnostic]":
    """A warning if programs will use another algorithm than a simulation, as they name none.

    A host is a network namespace, and may have those defaults alone that the machine allows to everybody.
    """
    allowed = _ALLOWED.read_text(encoding="ascii").split() if _ALLOWED.is_file() else [DEFAULT_CC]
    hosts = {
        plan["nodes"][host]["name"]
        for program in plan["programs"]
        for host in (program.get("span") or {"hosts": [program["host"]]})["hosts"]
        if CC_SYSCTL not in plan["nodes"][host].get("sysctls", {})
    }
    if not hosts or DEFAULT_CC in allowed:
        return []
    wanted = " ".join([*allowed, DEFAULT_CC])
    message = (
        f"TCP connections of programs on {few_text(sorted(hosts))} use reno, where a simulation uses "
        f"{DEFAULT_CC}: this machine does not allow it as the default of a namespace"
    )
    remedy = (
        f'to allow it: sudo sysctl -w net.ipv4.tcp_allowed_congestion_control="{wanted}"; or name one for '
        "both modes: tcp: {congestion_control: reno}"
    )
    return [Diagnostic(Code.DEFAULT_ALGORITHM, message, remedy)]


def strangers(resolved: "Resolved") -> "list[Diagnostic]":
    """Where a control is named that neither this kernel nor a model has, or that is given wrong values."""
    return algorithm_problems(
        resolved,
        (
            (path, algorithm)
            for path, algorithm in configured_algorithms(resolved)
            if algorithm and (len(algorithm) > 1 or not kernel_has(str(algorithm["algorithm"])))
        ),
    )


def problems(
    resolved: "Resolved", traffic: Iterable[Mapping[str, Any]], kernel: HostKernel
) -> "list[Diagnostic]":
    """What of real traffic neither the hosts' kernel nor a program of ours can do."""
    found = []
    for item in traffic:
        algorithm = item.get("cc")
        if not algorithm:
            continue
        if refusal := _refusal(algorithm, kernel):
            path = ("traffic", item["name"], "cc")
            found.append(resolved.scenario.problem(Code.ALGORITHM_NOT_LIVE, path, *refusal))
    return found


_SIMULATE = "add simulated: true, or run it with longhaul sim"


def _refusal(algorithm: Mapping[str, Any], kernel: HostKernel) -> tuple[str, str] | None:
    """Why real traffic cannot use ``algorithm``, and what to do; ``None`` if it can."""
    name = str(algorithm["algorithm"])
    if needs_loading(algorithm, kernel):
        try:
            _longhaul.check_bpf_algorithm(json.dumps(algorithm))
        except _longhaul.InvalidValueError as error:
            return error.message, error.remedy or _SIMULATE
        if "limit" in algorithm.get("slow_start", {}):
            message = (
                "slow_start.limit: an algorithm loaded into the kernel grows by all that an acknowledgement "
                "covers, as Linux does"
            )
            return message, f"remove limit, or {_SIMULATE}"
    elif len(algorithm) > 1 and kernel.has(name):
        return f"the kernel's {name} takes no parameters", f"write cc: {name}, or {_SIMULATE}"
    elif not kernel.has(name) and not kernel.loads:
        return f'the kernel of the hosts has no "{name}"', _SIMULATE
    elif not kernel.has(name):
        loadable = ", ".join(LOADABLE)
        return f'this kernel has no "{name}", and it cannot be loaded ({loadable} can)', _SIMULATE
    return None


def hosts_with(nodes: Sequence[Node], loaded: LoadedAlgorithms) -> list[Node]:
    """The hosts, with the kernel's names of the algorithms that are loaded for them."""
    found: list[Node] = []
    for node in nodes:
        algorithm = node["sysctls"].get(CC_SYSCTL)
        if algorithm is None:
            found.append(node)
            continue
        name = loaded.name({"algorithm": algorithm})
        found.append({**node, "sysctls": {**node["sysctls"], CC_SYSCTL: name}})
    return found
