"""A lab for containerlab: a container for each node, which its script sets up."""

import json

from longhaul.export.deployment import Deployment, Machine
from longhaul.export.shell import hosts, script

IMAGE = "nicolaka/netshoot"
"""A public image with iproute2, tc, ethtool and ping, without a daemon of its own."""
_PLACE = "/longhaul"


def files(deployment: Deployment, *, image: str = IMAGE) -> dict[str, str]:
    """The topology file, a script for each node, and the names of all nodes."""
    scripts = {f"{machine.name}.sh": script(deployment, machine) for machine in deployment.machines}
    return {
        f"{deployment.name}.clab.yml": _topology(deployment, image),
        **scripts,
        "hosts": hosts(deployment),
    }


def _topology(deployment: Deployment, image: str) -> str:
    lines = [
        f"# containerlab deploy -t {deployment.name}.clab.yml",
        f"name: {deployment.name}",
        "topology:",
        "  kinds:",
        f"    linux: {{image: {json.dumps(image)}}}",
        "  nodes:",
    ]
    for machine in deployment.machines:
        lines += [f"    {each}" for each in _node(machine)]
    lines += ["  links:", *(f"    - {each}" for each in _links(deployment))]
    return "\n".join(lines) + "\n"


def _node(machine: Machine) -> list[str]:
    name = machine.name
    return [
        f"{name}:",
        "  kind: linux",
        f"  binds: [{name}.sh:{_PLACE}/{name}.sh:ro, hosts:{_PLACE}/hosts:ro]",
        "  exec:",
        f"    - sh {_PLACE}/{name}.sh up",
        f"    - sh -c 'cat {_PLACE}/hosts >>/etc/hosts'",
    ]


def _links(deployment: Deployment) -> list[str]:
    ends: dict[str, list[tuple[str, int]]] = {}
    for machine in deployment.machines:
        for port in machine.ports:
            ends.setdefault(port.link, []).append((f"{machine.name}:{port.device}", port.mtu))
    return [
        f'{{endpoints: ["{here}", "{there}"], mtu: {mtu}}}   # {link}'
        for link, ((here, mtu), (there, _mtu)) in ends.items()
    ]
