"""An override file for docker-compose: containers know the hosts of the scenario by name."""

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Node
from longhaul.scenario import Resolved

FILE = "docker-compose.override.yml"
"""The file that compose reads beside ``docker-compose.yml`` by default."""
_ENGINES = ("docker:", "podman:")


def is_container(node: Node) -> bool:
    """Whether a host is a container of docker or podman."""
    port = node.get("port")
    return port is not None and port["kind"] == "namespace" and port["place"].startswith(_ENGINES)


def override(resolved: Resolved) -> str:
    """``extra_hosts`` of each service, under the name of its host: /etc/hosts outweighs the engine's DNS.

    Raises :class:`LonghaulError` if no host is a container.
    """
    nodes = resolved.plan["nodes"]
    containers = [node["name"] for node in nodes if is_container(node)]
    if not containers:
        raise LonghaulError(
            Code.EXPORT_IMPOSSIBLE,
            "no host is a container of docker or podman",
            remedy="give hosts a port, such as port: docker:NAME, or use longhaul import --containers",
            exit_code=2,
        )
    names = [node for node in nodes if node["kind"] not in ("router", "switch")]
    lines = [f'# Names of the network "{resolved.plan["name"]}", by longhaul export compose.', "services:"]
    for container in containers:
        lines += [f"  {container}:", "    extra_hosts:"]
        lines += [
            f'      - "{name}:{address}"'
            for node in names
            if node["name"].partition(".")[0] != container
            for name in (node["name"], *node.get("aliases", ()))
            for address in (node["ipv4"], node["ipv6"])
            if address
        ]
    return "\n".join(lines) + "\n"
