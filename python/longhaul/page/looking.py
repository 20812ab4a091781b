"""What a text says, right or wrong: its problems, and the network that it draws as far as it goes."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from longhaul.analysis.links import requested
from longhaul.errors import LonghaulError
from longhaul.page.drawing import drawn
from longhaul.run.checking import examine
from longhaul.scenario.describe import describe
from longhaul.scenario.load import check_tree
from longhaul.scenario.parameters import parameters, substitute
from longhaul.scenario.problems import ScenarioError
from longhaul.scenario.resolve import Resolved
from longhaul.scenario.topologies.expanding import lay_out
from longhaul.scenario.words import queues
from longhaul.scenario.yaml_tree import Branch, Source, read_tree

Json = dict[str, Any]

NAME = "scenario.yaml"
"""What errors call the text."""
_HEADLINE = re.compile(
    rf"{re.escape(NAME)}:(?P<line>[0-9]+):(?P<column>[0-9]+): (?:(?P<path>[^ :]+): )?(?P<rest>.*)", re.DOTALL
)
_MOST_PATHS = 200
_NOTHING: Json = dict.fromkeys(("rtt_ns", "bdp_bytes", "mtu", "forward", "reverse"))


def look(
    text: str,
    *,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    certificate: Mapping[str, Any] | None = None,
) -> Json:
    """``problems``, errors first, and ``model``, which is ``None`` where the text is no YAML.

    Files that the text names lie in ``folder``. While there are errors, the model says what stands in the
    text alone, and ``resolved`` in it is false.
    """
    try:
        source, root = read_tree(NAME, text.encode())
    except ScenarioError as error:
        return {"problems": list(_errors(error)), "model": None}
    resolved, problems = None, []
    try:
        scenario = check_tree(source, root, settings=settings or {}, folder=folder)
        resolved, warnings = examine(scenario, certificate=certificate)
        problems = [_warning(each) for each in warnings]
    except ScenarioError as error:
        problems = list(_errors(error))
    except LonghaulError as error:
        problems = [_problem(error.message, error.remedy)]
    tree, spots = _tree(source, root, settings or {})
    return {"problems": problems, "model": _with_numbers(drawn(root, tree, spots), resolved)}


def _tree(source: Source, root: Branch, settings: Mapping[str, str]) -> tuple[Branch, Mapping[str, Any]]:
    """The tree with parameters and topology in place, as far as they are right."""
    try:
        known, _problems = parameters(source, root, settings)
        tree, _used, _unknown = substitute(source, root, known)
        laid = lay_out(source, tree)
    except ScenarioError:
        return root, {}
    return laid.tree, laid.spots


def _with_numbers(model: Json, resolved: Resolved | None) -> Json:
    """The drawing with addresses, laws, round trips and paths; each ``None`` while there are errors."""
    told: Json = (
        describe(resolved, most_paths=_MOST_PATHS) if resolved else {"nodes": [], "links": [], "paths": []}
    )
    nodes = {node["name"]: node for node in told["nodes"]}
    links = {link["name"]: link for link in told["links"]}
    for node in model["nodes"]:
        found = nodes.get(node["name"], {})
        node["addresses"] = [found[key] for key in ("ipv4", "ipv6") if found.get(key)]
        node["congestion_control"] = found.get("congestion_control")
    for link in model["links"]:
        link.update(_link(links[link["name"]]) if link["name"] in links else _NOTHING)
    return {
        **model,
        "resolved": resolved is not None,
        "duration_ns": told.get("duration_ns"),
        "seed": told.get("seed"),
        "every_ns": resolved.plan["measure"]["every_ns"] if resolved else None,
        "paths": [
            {key: path[key] for key in ("from", "to", "nodes", "round_trip_ns", "bottleneck", "bits_per_s")}
            for path in told["paths"]
        ],
    }


def _link(link: Json) -> Json:
    return {
        "rtt_ns": link["round_trip_ns"],
        "bdp_bytes": link["forward"]["bdp_bytes"],
        "mtu": link["mtu"],
        **{way: _direction(link[way]) for way in ("forward", "reverse")},
    }


def _direction(direction: Json) -> Json:
    asked = requested(direction)
    return {
        "delay_ns": asked["delay_ns"],
        "varies": direction["delay"]["law"] != "constant",
        "rate_bits_per_s": asked["rate_bits_per_s"],
        "loss": asked["loss"],
        "queue": ", ".join(queues(direction)),
        "queue_law": direction["queue"]["discipline"]["law"],
        "queue_bytes": direction["queue_bytes"],
        "queue_packets": direction["queue"]["limit_packets"],
        "queue_ns": direction["queue_ns"],
        "bdp_bytes": direction["bdp_bytes"],
        "routes": asked["routes"],
        "up": direction["up"],
    }


def _errors(error: ScenarioError) -> Iterator[Json]:
    for each in error.problems:
        yield {**each.as_json(), "severity": "error", "width": each.place.width}


def _problem(message: str, remedy: str | None) -> Json:
    return {
        "line": 1,
        "column": 1,
        "width": 1,
        "path": "",
        "message": message,
        "remedy": remedy,
        "severity": "error",
    }


def _warning(text: str) -> Json:
    """A warning with its place apart from what it says."""
    match = _HEADLINE.fullmatch(text)
    if match is None:
        return {**_problem(text, None), "severity": "warning"}
    message, _, remedy = match["rest"].partition("; ")
    return {
        "line": int(match["line"]),
        "column": int(match["column"]),
        "width": 1,
        "path": match["path"] or "",
        "message": message,
        "remedy": remedy or None,
        "severity": "warning",
    }
