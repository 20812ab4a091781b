"""Interventions: changes of a running network at a user's request, all at one instant."""

import getpass
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from longhaul.analysis.configuration import Configuration, Model, lanes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import WAYS, Link, Plan, Way
from longhaul.results import directory as directories
from longhaul.results.changes import read_changes
from longhaul.run import session, sockets
from longhaul.run.persistent_networks import unknown
from longhaul.scenario.lower.compensation import shorten
from longhaul.scenario.lower.network import ends_at_host

Json = dict[str, Any]
Surface = Literal["cli", "page", "python"]
"""Where a user asked."""
_RECORDED_WITHIN_S = 3.0
_BETWEEN_LOOKS_S = 0.005


def change_link(
    name: str | None,
    link: str,
    changes: Sequence[str],
    *,
    by: Surface,
    way: Way | None = None,
    route: int | None = None,
) -> float:
    """Change a link, or one of its routes (from 1), or the pacing of a host that is called ``link``, now.

    ``changes`` are ``KEY=VALUE``, ``up`` or ``down``. Returns when they took effect, in seconds of the run's
    clock. Raises ScenarioError and LonghaulError, and then nothing has changed.
    """
    path = sockets.find(name)
    run = _Run.of(path)
    names = [each["name"] for each in run.plan["links"]]
    nodes = [each["name"] for each in run.plan.get("nodes", ())]
    if link in names:
        asked = run.link_changes(names.index(link), changes, way=way, route=route)
        if changes and changes[0] in ("join", "leave"):
            asked += run.reroute()
    elif link in nodes and len(changes) == 1 and changes[0].partition("=")[0] in ("join", "leave", "attach"):
        asked = run.node_changes(nodes.index(link), changes[0])
    else:
        paced = paced_directions(run.plan)
        if link in nodes and link not in paced:
            message = f'"{link}" is a node, and has no "{" ".join(changes)[:40]}"'
            remedy = "write join or leave, of a host attach=ROUTER, or name a link"
            raise LonghaulError(Code.CHANGE_MALFORMED, message, remedy=remedy, exit_code=2)
        if link not in paced:
            raise LonghaulError(
                Code.LINK_UNKNOWN, unknown("link or node", link, [*names, *nodes]), exit_code=2
            )
        asked = run.pacing_changes(paced[link], changes)
    return _ask_and_wait(path, run, asked, by=by, words=changes) / 1e9


def set_link(
    name: str,
    link: str,
    settings: Mapping[str, Any],
    *,
    up: bool | None = None,
    way: Way | None = None,
    route: int | None = None,
) -> float:
    """:func:`change_link` for a program in Python: ``{"delay": "60ms"}``, and whether the link is ``up``."""
    changes = [f"{setting}={value}" for setting, value in settings.items()]
    changes += [] if up is None else ["up" if up else "down"]
    return change_link(name, link, changes, by="python", way=way, route=route)


def link_models(path: Path, link: str) -> dict[Way, Model]:
    """The models that a link has now in each direction, in a run whose socket is ``path``."""
    run = _Run.of(path)
    index = _position(run, link)
    return {way: dict(run.configuration.model(index, way)) for way in WAYS}


def set_models(
    path: Path,
    link: str,
    changes: Sequence[tuple[Way | None, Sequence[str]]],
    *,
    by: Surface,
) -> frozenset[str]:
    """Change a link, each direction by words as :func:`change_link` takes them, all at one instant.

    Returns the keys of the models that were set, when the run has recorded it. Raises as :func:`change_link`.
    """
    run = _Run.of(path)
    index = _position(run, link)
    asked = [part for way, words in changes for part in run.link_changes(index, words, way=way, route=None)]
    words = list(dict.fromkeys(word for _way, words in changes for word in words))
    _ask_and_wait(path, run, asked, by=by, words=words)
    return frozenset(
        key for each in asked for key, value in each["change"].items() if value not in (None, [])
    )


def restore_models(
    path: Path,
    link: str,
    before: Mapping[Way, Mapping[str, Any]],
    *,
    keys: Collection[str],
    by: Surface,
    words: Sequence[str],
) -> None:
    """Set the models of ``keys`` to those of ``before``, as :func:`link_models` returned it, at one instant.

    Returns when the run has recorded it.
    """
    run = _Run.of(path)
    index = _position(run, link)
    asked = [part for way in WAYS for part in _restoring(index, way, before[way], keys)]
    _ask_and_wait(path, run, asked, by=by, words=words)


def _restoring(index: int, way: Way, before: Mapping[str, Any], keys: Collection[str]) -> Iterator[Json]:
    """What to ask of a run so that a direction, or each of its routes, has these models again."""
    if before.get("bundle") is not None and "up" in keys:
        # That a link with parallel routes is down closes all of them; each keeps its own state.
        yield {"link": index, "direction": way, "route": None, "change": {"up": before["up"]}}
        keys = set(keys) - {"up"}
    for route, lane in lanes(before):
        change = {key: lane[key] for key in keys if lane.get(key) is not None}
        if "reordering" in keys and lane.get("reordering") is None:
            change["reordering"] = {"model": "none"}
        if change:
            yield {"link": index, "direction": way, "route": route, "change": change}


def _ask_and_wait(path: Path, run: "_Run", asked: list[Json], *, by: Surface, words: Sequence[str]) -> int:
    """Ask for changes, and wait until the run has recorded them, so that the next ones start from them.

    Returns when they took effect, in ns of the run's clock.
    """
    cause = {"by": by, "user": user_name(), "words": list(words)}
    answer = session.ask(path, {"do": "change", "changes": asked, "cause": cause})
    at_ns: int = answer["engine"]["at_ns"]
    until_s = time.monotonic() + _RECORDED_WITHIN_S
    while time.monotonic() < until_s and not any(
        each.at_ns >= at_ns and each.cause["by"] != "event" for each in read_changes(run.directory, run.plan)
    ):
        time.sleep(_BETWEEN_LOOKS_S)
    return at_ns


def _position(run: "_Run", link: str) -> int:
    names = [each["name"] for each in run.plan["links"]]
    if link not in names:
        raise LonghaulError(Code.LINK_UNKNOWN, unknown("link", link, names), exit_code=2)
    return names.index(link)


def user_name() -> str:
    """Who asks: the account behind ``sudo``, if there is one."""
    try:
        return os.environ.get("SUDO_USER") or getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())


def paced_directions(plan: Plan) -> dict[str, list[tuple[int, Way]]]:
    """Of each host that paces, its links' positions in the plan and ways out."""
    found: dict[str, list[tuple[int, Way]]] = {}
    for index, each in enumerate(plan["links"]):
        for way in WAYS:
            if each[way].get("pacing"):
                host = plan["nodes"][each["endpoints"][WAYS.index(way)]]["name"]
                found.setdefault(host, []).append((index, way))
    return found


@dataclass(frozen=True)
class _Run:
    """A run that is up, as it is configured now."""

    plan: Plan
    configuration: Configuration
    directory: Path
    base_ns: int
    """The machine's own latency, which is taken off delays; 0 if it is not."""

    @classmethod
    def of(cls, path: Path) -> "_Run":
        """The run whose socket is ``path``."""
        answer = session.ask(path, {"do": "hosts"})
        directory = Path(answer["env"]["LONGHAUL_RUN"])
        plan = directories.read_plan(directory)
        from longhaul.scenario.model.link import DEFAULT_MTU

        # A relay knows no packets, and counts in those that it would have.
        links: list[Link] = [{**link, "mtu": link.get("mtu", DEFAULT_MTU)} for link in plan["links"]]
        plan = {**plan, "links": links}
        about = directories.read_run(directory)
        certificate = about.get("certificate") or {}
        base_ns = int(certificate["base_one_way_ns"]) if about.get("compensated") else 0
        return cls(plan, Configuration(plan, read_changes(directory, plan)), directory, base_ns)

    def link_changes(
        self, index: int, changes: Sequence[str], *, way: Way | None, route: int | None
    ) -> list[Json]:
        """What to ask of the run, one change where both ways become the same."""
        from longhaul.scenario import resolve_changes

        now: Json = {each: self.configuration.model(index, each) for each in WAYS}
        link: Mapping[str, Any] = {**self.plan["links"][index], **now}
        to_hosts = [each for each in WAYS if "nodes" in self.plan and ends_at_host(self.plan, index, each)]
        asked = resolve_changes(changes, link, to_hosts=to_hosts, way=way, route=route)
        if self.base_ns:
            asked = [part for each in asked for part in self._compensated(index, each)]
        return [{"link": index, **each} for each in asked]

    def node_changes(self, node: int, change: str) -> list[Json]:
        """What to ask of the run so that a node joins, leaves, or is attached to another router."""
        from longhaul.scenario.lower.link_state import JOINED, LEFT

        word, _equals, router = change.partition("=")
        links = [index for index, each in enumerate(self.plan["links"]) if node in each["endpoints"]]
        name = self.plan["nodes"][node]["name"]
        if word == "attach":
            far = {self._far(index, node): index for index in links}
            if router not in far:
                message = f'no link leads from "{name}" to "{router}"'
                remedy = f"links that events of the scenario name lead to {', '.join(far)}"
                raise LonghaulError(Code.LINK_UNKNOWN, message, remedy=remedy, exit_code=2)
            joins = {far[router]}
        else:
            joins = set(links) if word == "join" else set()
        asked: list[Json] = [
            {"link": index, "direction": None, "route": None, "change": JOINED if index in joins else LEFT}
            for index in sorted(links, key=lambda index: index in joins)
        ]
        return [*asked, *self.reroute()]

    def _far(self, link: int, node: int) -> str:
        a, b = self.plan["links"][link]["endpoints"]
        return str(self.plan["nodes"][b if a == node else a]["name"])

    def reroute(self) -> list[Json]:
        """Routes anew, from the delays that the scenario's events compute them from."""
        costs = (each["change"].get("reroute") for each in self.plan["events"])
        change = {"reroute": next((each for each in costs if each), "configured")}
        return [{"link": 0, "direction": "forward", "route": None, "change": change}]

    def _compensated(self, index: int, asked: Json) -> list[Json]:
        """A change of each way by itself: of those that end at a host the delay is shortened."""
        if not asked["change"].get("delay"):
            return [asked]
        parts = []
        for way in WAYS if asked["direction"] is None else (asked["direction"],):
            change = {**asked["change"], "delay": dict(asked["change"]["delay"])}
            if ends_at_host(self.plan, index, way):
                shorten(change["delay"], self.base_ns)
            parts.append({**asked, "direction": way, "change": change})
        return parts

    def _pacing(self, index: int, way: Way) -> Mapping[str, Any]:
        pacing = self.plan["links"][index][way].get("pacing")
        assert pacing is not None, "the host paces before this link"
        return pacing

    def pacing_changes(self, directions: Sequence[tuple[int, Way]], changes: Sequence[str]) -> list[Json]:
        """The same for classes of a host's pacing."""
        from longhaul.scenario import resolve_pacing

        return [
            {
                "link": index,
                "direction": way,
                "change": {"pacing": resolve_pacing(changes, self._pacing(index, way))},
            }
            for index, way in directions
        ]
