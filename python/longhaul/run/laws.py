"""Congestion controls of a live run: the kernel's own, and those that it is taught until the run ends."""

import json
import platform
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul import _longhaul
from longhaul.analysis.text import few_text
from longhaul.run.flows import law_problems, named_laws
from longhaul.scenario.tcp import CC_SYSCTL, DEFAULT_CC

if TYPE_CHECKING:
    from longhaul.scenario import Resolved
    from longhaul.scenario.problems import Problem

Json = dict[str, Any]

LOADABLE = tuple(name for name, _ in _longhaul.kernel_laws(load=False))
"""Laws that a kernel can be taught."""
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_NAME_BYTES = 15


class Lessons:
    """Laws that the kernel is to be taught, each under a name that no other run has."""

    def __init__(self) -> None:
        """None so far."""
        self._names: dict[str, str] = {}
        self._suffix = secrets.token_hex(2)

    def name(self, law: Mapping[str, Any]) -> str:
        """What the kernel will call this law."""
        if not is_taught(law):
            return str(law["law"])
        text = json.dumps(law, sort_keys=True)
        if text not in self._names:
            # Names are the whole machine's, and may be as long as this one is.
            number = len(self._names)
            suffix = f"{int(self._suffix, 16) + number & 0xFFFF:04x}"
            self._names[text] = f"{str(law['law'])[: _NAME_BYTES - 5]}_{suffix}"
        return self._names[text]

    def plan(self) -> list[Json]:
        """The laws as the plan has them."""
        return [{"name": name, "law": json.loads(text)} for text, name in self._names.items()]


def is_taught(law: Mapping[str, Any]) -> bool:
    """Whether the kernel has to be taught this law: it has none of this name, or parameters are asked for."""
    return law["law"] in LOADABLE and (len(law) > 1 or not kernel_has(str(law["law"])))


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


def default_concerns(plan: Mapping[str, Any]) -> list[str]:
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
    return [
        f"TCP connections of programs on {few_text(sorted(hosts))} use reno, where a simulation uses "
        f"{DEFAULT_CC}: this machine does not allow it as the default of a namespace; to allow it: "
        f'sudo sysctl -w net.ipv4.tcp_allowed_congestion_control="{wanted}"; or name one for both modes: '
        "tcp: {congestion_control: reno}"
    ]


def strangers(resolved: "Resolved") -> "list[Problem]":
    """Where a control is named that neither this kernel nor a model has, or that is given wrong values."""
    return law_problems(
        resolved,
        (
            (path, law)
            for path, law in named_laws(resolved)
            if law and (len(law) > 1 or not kernel_has(str(law["law"])))
        ),
    )


def problems(resolved: "Resolved", traffic: Iterable[Mapping[str, Any]]) -> "list[Problem]":
    """What of real traffic neither this kernel nor a program of ours can do."""
    found = []
    for item in traffic:
        law = item.get("cc")
        if not law:
            continue
        try:
            _check(law)
        except ValueError as error:
            message, _, remedy = str(error).partition("; ")
            remedy = remedy or "add simulated: true, or run it with longhaul sim"
            found.append(resolved.scenario.problem(("traffic", item["name"], "cc"), message, remedy))
    return found


def _check(law: Mapping[str, Any]) -> None:
    name = str(law["law"])
    if is_taught(law):
        _longhaul.check_kernel_law(json.dumps(law))
        if "limit" in law.get("slow_start", {}):
            raise ValueError(
                "slow_start.limit: an algorithm loaded into the kernel grows by all that an acknowledgement "
                "covers, as Linux does; remove limit, or add simulated: true, or run it with longhaul sim"
            )
    elif len(law) > 1:
        raise ValueError(
            f"the kernel's {name} takes no parameters; write cc: {name}, or add simulated: true, "
            "or run it with longhaul sim"
        )
    elif not kernel_has(name):
        loadable = ", ".join(LOADABLE)
        raise ValueError(
            f'this kernel has no "{name}", and it cannot be loaded ({loadable} can); '
            "add simulated: true, or run it with longhaul sim"
        )


def hosts_with(nodes: list[Json], lessons: Lessons) -> list[Json]:
    """Hosts whose own congestion control is one to be taught have it by the name that it will have."""
    found = []
    for node in nodes:
        law = node["sysctls"].get(CC_SYSCTL)
        named = law and {CC_SYSCTL: lessons.name({"law": law})}
        found.append({**node, "sysctls": {**node["sysctls"], **named}} if named else node)
    return found
