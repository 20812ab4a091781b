"""An inventory and two playbooks that run the scripts of :mod:`longhaul.export.shell` on all machines."""

from typing import Any

import yaml

from longhaul.export.deployment import Deployment
from longhaul.export.shell import script

_SCRIPTS = "scripts"


def files(deployment: Deployment, hosts: str) -> dict[str, str]:
    """Text by path: ``inventory.yaml``, ``up.yaml``, ``down.yaml`` and a script for each machine."""
    machines = {}
    for machine in deployment.machines:
        login = {"ansible_host": machine.managed_at, "ansible_user": machine.user}
        machines[machine.name] = {key: value for key, value in login.items() if value}
    scripts = {f"{_SCRIPTS}/{each.name}.sh": script(deployment, each) for each in deployment.machines}
    return {
        "inventory.yaml": _written({"all": {"hosts": machines}}),
        "up.yaml": _written(_playbook(deployment, "up", "present", hosts)),
        "down.yaml": _written(_playbook(deployment, "down", "absent", hosts)),
        **scripts,
    }


def _playbook(deployment: Deployment, verb: str, state: str, hosts: str) -> list[dict[str, Any]]:
    names = {
        "path": "/etc/hosts",
        "marker": f"# {{mark}} longhaul {deployment.name}",
        "block": hosts,
        "state": state,
    }
    return [
        {
            "name": f"{deployment.name} {verb}",
            "hosts": "all",
            "become": True,
            "gather_facts": False,
            "tasks": [
                {
                    "name": "Addresses, routes and disciplines",
                    "ansible.builtin.script": {"cmd": f"{_SCRIPTS}/{{{{ inventory_hostname }}}}.sh {verb}"},
                },
                {"name": "Names", "ansible.builtin.blockinfile": names},
            ],
        }
    ]


def _written(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False, width=110)
