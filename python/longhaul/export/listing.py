"""The commands of tc alone, machine by machine and link by link."""

from longhaul.export.deployment import Machine
from longhaul.export.shell import disciplines


def listing(machine: Machine) -> str:
    """The commands of ``machine``; empty where it shapes nothing."""
    lines = []
    for port in machine.ports:
        commands = disciplines(port)
        if commands:
            lines += [f"# {port.link}, {port.way}: from {machine.name} to {port.peer}", *commands]
    return "\n".join(lines) + "\n" if lines else ""
