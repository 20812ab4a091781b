"""The check of a text: its problems, and the network as far as it can be drawn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.analysis.links import requested
from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.page.drawing import NO_NUMBERS, drawn
from longhaul.page.refusals import as_problem
from longhaul.page.responses.drawings import Check, Drawing, LinkNumbers, Model, Place, Way
from longhaul.page.responses.texts import Problem
from longhaul.run.check import examine
from longhaul.scenario.check.load import check_tree
from longhaul.scenario.expand.parameters import parameters, substitute
from longhaul.scenario.expand.topologies.on_demand import lay_out
from longhaul.scenario.inputs import inputs_of
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.show.describe import describe
from longhaul.scenario.show.model_summaries import queues
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, Leaf, Source, read_tree

Json = dict[str, Any]

NAME = "scenario.yaml"
"""What errors call the text."""
_NEXT: Problem = {
    "code": None,
    "explanation": None,
    "path": "",
    "line": None,
    "column": None,
    "width": 1,
    "message": "nothing is drawn yet",
    "remedy": 'put a router or a host on the map, write "nodes:", or open a template',
    "severity": "hint",
}
_MOST_PATHS = 200


def look(
    text: str,
    *,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    certificate: Mapping[str, Any] | None = None,
) -> Check:
    """``problems``, errors first, and ``model``, which is ``None`` where the text is not YAML.

    That nothing is drawn yet is not an error here, but has severity ``hint``: what to do next, at no line.

    Files that the text names lie in ``folder``. While there are errors, the model says what stands in the
    text alone, and ``resolved`` in it is false.
    """
    try:
        source, root = read_tree(NAME, text.encode())
    except ScenarioError as error:
        return {"problems": _errors(error), "model": None}
    resolved = None
    problems: list[Problem] = []
    try:
        scenario = check_tree(source, root, settings=settings or {}, folder=folder)
        found = examine(scenario, certificate=certificate)
        resolved = found.resolved
        problems = [as_problem(each) for each in found.warnings]
    except ScenarioError as error:
        problems = [each for each in _errors(error) if not _says_empty(root, each)]
        problems += [_NEXT] if len(problems) < len(error.diagnostics) else []
    except LonghaulError as error:
        problems = [of_all(error.code, error.message, error.remedy)]
    tree, spots = _tree(source, root, settings or {}, folder)
    return {"problems": problems, "model": _with_numbers(drawn(root, tree, spots), resolved)}


def _tree(
    source: Source, root: Branch, settings: Mapping[str, str], folder: Path
) -> tuple[Branch, Mapping[str, Place]]:
    """The tree with parameters and topology in place, as far as they are right."""
    try:
        known, _problems = parameters(source, root, settings)
        tree, _used, _unknown = substitute(source, root, known)
        laid = lay_out(source, tree, inputs_of(source.name, folder=folder, contents=None))
    except ScenarioError:
        return root, {}
    return laid.tree, laid.spots


def _with_numbers(drawing: Drawing, resolved: Resolved | None) -> Model:
    """The drawing with addresses, models, round trips and paths; each ``None`` while there are errors."""
    told: Json = (
        describe(resolved, most_paths=_MOST_PATHS) if resolved else {"nodes": [], "links": [], "paths": []}
    )
    nodes = {node["name"]: node for node in told["nodes"]}
    links = {link["name"]: link for link in told["links"]}
    for node in drawing["nodes"]:
        found = nodes.get(node["name"], {})
        node["addresses"] = [found[key] for key in ("ipv4", "ipv6") if found.get(key)]
        node["congestion_control"] = found.get("congestion_control")
    return {
        **drawing,
        "links": [
            {**link, **(_link(links[link["name"]]) if link["name"] in links else NO_NUMBERS)}
            for link in drawing["links"]
        ],
        "resolved": resolved is not None,
        "duration_ns": told.get("duration_ns"),
        "seed": told.get("seed"),
        "every_ns": resolved.plan["measure"]["every_ns"] if resolved else None,
        "paths": [
            {
                "from": path["from"],
                "to": path["to"],
                "nodes": path["nodes"],
                "round_trip_ns": path["round_trip_ns"],
                "bottleneck": path["bottleneck"],
                "bits_per_s": path["bits_per_s"],
            }
            for path in told["paths"]
        ],
    }


def _link(link: Json) -> LinkNumbers:
    return {
        "rtt_ns": link["round_trip_ns"],
        "bdp_bytes": link["forward"]["bdp_bytes"],
        "mtu": link["mtu"],
        "forward": _direction(link["forward"]),
        "reverse": _direction(link["reverse"]),
    }


def _direction(direction: Json) -> Way:
    asked = requested(direction)
    return {
        "delay_ns": asked["delay_ns"],
        "varies": direction["delay"]["model"] != "constant",
        "rate_bits_per_s": asked["rate_bits_per_s"],
        "loss": asked["loss"],
        "queue": ", ".join(queues(direction)),
        "queue_discipline": direction["queue"]["discipline"]["kind"],
        "queue_bytes": direction["queue_bytes"],
        "queue_packets": direction["queue"]["limit_packets"],
        "queue_ns": direction["queue_ns"],
        "bdp_bytes": direction["bdp_bytes"],
        "routes": asked["routes"],
        "up": direction["up"],
    }


def _errors(error: ScenarioError) -> list[Problem]:
    return [as_problem(each) for each in error.diagnostics]


def _says_empty(root: Branch, problem: Problem) -> bool:
    """Whether the problem is that the network has no nodes, and nothing that would make some."""
    if "topology" in root.entries:
        return False
    if "nodes" not in root.entries:
        return (problem["path"], problem["message"]) == ("", 'has no "nodes"')
    nodes = root.entries["nodes"][1]
    is_empty = (
        not nodes.entries if isinstance(nodes, Branch) else isinstance(nodes, Leaf) and nodes.value is None
    )
    return is_empty and problem["path"] == "nodes"


def of_all(code: Code, message: str, remedy: str | None) -> Problem:
    """A problem that has no place in the text."""
    return as_problem(Diagnostic(code, message, remedy))
