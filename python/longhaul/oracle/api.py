"""``longhaul oracle``: a scenario on the virtual clock, once with Longhaul's links and once with Linux's."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code, Diagnostic
from longhaul.kernels.cache import Kernel
from longhaul.oracle import programs
from longhaul.oracle.changes import Commands, changes, changing
from longhaul.oracle.comparison import Comparison, compare
from longhaul.oracle.kernel import run_guest
from longhaul.oracle.layout import Chains, Layout, layout
from longhaul.oracle.measured import by_longhaul, by_oracle
from longhaul.oracle.stages import Stage, chain
from longhaul.plan import WAYS, Plan, Way
from longhaul.results.run_files import read_json
from longhaul.run.virtual_clock import first_process
from longhaul.scenario import Resolved
from longhaul.scenario.lower.main_tables import without_interfaces
from longhaul.scenario.lower.network import origin_of
from longhaul.scenario.lower.segments import switch_names
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.storage import replace_json
from longhaul.subprocesses import program

GUEST = "longhaul.oracle.guest"
DIRECTORY = "oracle"
"""Of the oracle's files, in the directory of the run that they are compared with."""
ORDERS = "orders.json"
COMPARISON = "comparison.json"
_COMMANDS = {"ip": "iproute2", "tc": "iproute2", "sysctl": "procps", "unshare": "util-linux"}


@dataclass(frozen=True)
class Accepted:
    """A scenario that the oracle can run."""

    resolved: Resolved
    chains: Chains
    changes: tuple[Commands, ...]
    notes: tuple[Diagnostic, ...]
    """Where tc only comes near the scenario."""


def accept(resolved: Resolved) -> Accepted:
    """What the oracle makes of a scenario. Raises ScenarioError for what tc and netem cannot do."""
    scenario, plan = resolved.scenario, without_interfaces(resolved.plan)
    problems = list(programs.problems(resolved))
    for name in switch_names(plan["nodes"]):
        message, remedy = f"{name} is a switch, and the guest has hosts and routers", "write kind: router"
        problems.append(scenario.problem(Code.EXPORT_IMPOSSIBLE, ("nodes", name), message, remedy))
    notes: list[Diagnostic] = []
    chains: list[dict[Way, Sequence[Stage]]] = []
    changed = changing(plan)
    timeline: tuple[Commands, ...] = ()
    for number, link in enumerate(plan["links"]):
        origin = origin_of(scenario, link["name"])
        found: dict[Way, Sequence[Stage]] = {}
        for way in WAYS:
            made = chain(link[way], mtu=link["mtu"], changes=number in changed)
            found[way] = made.stages
            problems += [origin.problem(e.code, e.at, way, e.message, e.remedy) for e in made.refused]
            notes += [
                origin.problem(Code.EXPORT_APPROXIMATES, e.at, way, e.message, e.remedy) for e in made.rough
            ]
        chains.append(found)
    if not problems:
        try:
            timeline = tuple(changes(plan))
        except ScenarioValueError as error:
            problems.append(scenario.problem(error.code, error.at, error.message, error.remedy))
    for name, package in _COMMANDS.items():
        program(name, package=package)
    if problems:
        raise ScenarioError(list(dict.fromkeys(problems)))
    return Accepted(resolved, tuple(chains), timeline, tuple(dict.fromkeys(notes)))


def consult(
    accepted: Accepted,
    directory: Path,
    summary: dict[str, Any],
    kernel: Kernel,
    *,
    super_packets: bool = False,
) -> Comparison:
    """Run the scenario of the finished run in ``directory`` with the links of Linux, and compare the two.

    ``super_packets``: the devices of Linux take super-packets, as they do by default. Raises LonghaulError
    if the guest fails.
    """
    plan: Plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
    traffic: list[dict[str, Any]] = read_json(directory / "raw" / "traffic.json") or []
    place = (directory / DIRECTORY).resolve()
    (place / "logs").mkdir(parents=True, exist_ok=True)
    network = layout(plan, accepted.chains, super_packets=super_packets)
    orders = place / ORDERS
    replace_json(orders, _orders(plan, network, accepted.changes, place))
    result = run_guest(kernel, first_process(GUEST, str(orders)), place, seed=plan["seed"])
    comparison = compare(
        plan,
        by_longhaul(directory, plan, traffic, summary),
        by_oracle(place, plan, traffic, result, network.counters),
    )
    replace_json(place / COMPARISON, comparison.as_json())
    return comparison


def _orders(plan: Plan, network: Layout, timeline: Sequence[Commands], place: Path) -> dict[str, Any]:
    """What the guest reads."""
    return {
        "cwd": os.getcwd(),
        "logs": str(place / "logs"),
        "env": {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "duration_ns": plan["duration_ns"],
        "hosts": "127.0.0.1\tlocalhost\n"
        + "".join(
            f"{node[family]}\t{node['name']}\n"
            for node in plan["nodes"]
            for family in ("ipv4", "ipv6")
            if node[family]
        ),
        "namespaces": list(network.namespaces),
        "commands": [{"argv": list(each.argv), "lines": list(each.lines)} for each in network.commands],
        "changes": [asdict(each) for each in timeline],
        "programs": programs.orders(plan),
    }
