"""The path map of a relay in the form that is asked for."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from longhaul.analysis.text import rate_text, time_text
from longhaul.export.pathmap import mpi_text, path_map, redirection_text, shell_text, ssh_text
from longhaul.scenario import Resolved
from longhaul.scenario.relay import section_of

Form = Literal["words", "shell", "ssh", "mpi", "redirect", "json"]


def path_map_text(resolved: Resolved, *, node: str | None, form: Form, ports: tuple[int, int]) -> str:
    """The path map of all clusters, or of that of ``node``; raises LonghaulError if there is none."""
    relay, every = section_of(resolved), path_map(resolved)
    chosen = path_map(resolved, node=node)
    match form:
        case "json":
            return json.dumps(chosen, indent=1) + "\n"
        case "shell":
            return "\n".join(shell_text(each) for each in chosen)
        case "ssh":
            return "\n".join(ssh_text(each, every) for each in chosen)
        case "mpi":
            return mpi_text(every, ports=ports)
        case "redirect":
            mine = [each for each in every if each in chosen]
            return "\n".join(redirection_text(each, every, relay, ports=ports) for each in mine)
        case "words":
            return "\n".join(_words(each) for each in chosen)


def _words(cluster: Mapping[str, Any]) -> str:
    lines = [f"cluster {cluster['cluster']}, gateway {cluster['gateway'] or 'none'}"]
    if cluster["machines"]:
        lines.append(f"  machines  {', '.join(cluster['machines'])}")
    if cluster["names"]:
        known = [f"{name} {address}" for name, address in cluster["names"].items()]
        lines.append(f"  names     {', '.join(known[:4])}" + (f" ... {known[-1]}" if len(known) > 4 else ""))
    if cluster["socks"]:
        lines.append(f"  socks     {cluster['socks']}")
    for forward in cluster["forwards"]:
        where = f" ({forward['cluster']})"
        lines.append(f"  forward   {forward['listen']} {forward['protocol']} -> {forward['to']}{where}")
    for path in cluster["paths"]:
        figures = [f"{time_text(path['one_way_ns'])} one way", f"RTT {time_text(path['round_trip_ns'])}"]
        if path["rate_bits_per_s"] is not None:
            figures.append(rate_text(path["rate_bits_per_s"]))
        by = f" by {' and '.join(path['gateways'])}" if path["gateways"] else ""
        lines.append(f"  path      to {path['to']}{by}: {', '.join(path['links'])}; {', '.join(figures)}")
    return "\n".join(lines) + "\n"
