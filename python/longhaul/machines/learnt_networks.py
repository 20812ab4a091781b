"""Networks behind interfaces of the machines of a run, which their agents learn."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from longhaul.machines.coordinator import Coordinator
from longhaul.machines.hostfile import Machine
from longhaul.machines.placement import Placement
from longhaul.run import learnt_networks
from longhaul.run.cleanup import temporary_prefix
from longhaul.scenario.check.names import machine_named

if TYPE_CHECKING:
    from longhaul.scenario import Resolved


def with_learnt_networks(resolved: "Resolved", machines: Sequence[Machine]) -> "Resolved":
    """``resolved`` with the networks of ports that list none, as the machines of their hosts know them.

    Agents are started on these machines, and end with this. Raises ScenarioError if nothing is known, and
    LonghaulError if a machine does not answer.
    """
    document = resolved.scenario.document
    by_name = {machine.name: machine for machine in machines}
    # What is on no machine, or on none of these, is refused when nodes are placed.
    wanted = {
        key: (name, interface)
        for key, interface in learnt_networks.to_learn(resolved).items()
        if (name := machine_named(document, key)) in by_name
    }
    if not wanted:
        return resolved
    asked = [machine for machine in machines if any(name == machine.name for name, _ in wanted.values())]
    with TemporaryDirectory(prefix=temporary_prefix("agents")) as scratch:
        coordinator = Coordinator(Placement(asked, [], []), scratch=Path(scratch))
        try:
            known = coordinator.learn(
                {
                    machine.name: {
                        key: asdict(interface)
                        for key, (name, interface) in wanted.items()
                        if name == machine.name
                    }
                    for machine in asked
                }
            )
        finally:
            coordinator.close()
    return learnt_networks.with_networks(
        resolved, known, machines={key: str(name) for key, (name, _interface) in wanted.items()}
    )
