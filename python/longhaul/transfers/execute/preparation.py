"""Requests and scenario of a transfer plan, checked and matched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.transfers.plan import Instance
from longhaul.transfers.plan.controller import Controller
from longhaul.transfers.plan.progress import Care

if TYPE_CHECKING:
    from longhaul.scenario import Resolved
    from longhaul.transfers.plan.request_files import RequestFile

LEAD_S = 2.0
"""Connections are opened so long before the release of a request; a plan's time begins so much later."""


Began = Callable[[Path, Controller, Path | None], None]
"""Hears of the run directory, of the controller that decides while the run goes on, and of the socket at
which a live run takes orders."""


@dataclass(frozen=True)
class Job:
    """Requests on a scenario, and how to carry them out."""

    resolved: "Resolved"
    case: Instance
    care: Care
    ends: tuple[tuple[int, int], ...]
    """Source and destination of each request, by position among the nodes."""
    round_trips_s: tuple[float, ...]
    changes: tuple[tuple[float, int, float], ...]
    """On the run's clock (s), a link of the case, and what payload it carries from then on (bit/s)."""

    def controller(self, *, attempts: int | None = None) -> Controller:
        """Who decides."""
        from dataclasses import replace

        care = self.care if attempts is None else replace(self.care, attempts=attempts)
        return Controller(self.case, care, round_trips_s=self.round_trips_s)


def prepare(
    requests: Path, scenario: Path, *, settings: Mapping[str, str], care: Care, seed: int | None = None
) -> Job:
    """Read and place requests; raises ScenarioError, or LonghaulError for ends that are not hosts."""
    from longhaul.scenario import load_scenario, resolve
    from longhaul.transfers.plan.request_files import read_requests

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    return place(read_requests(requests), resolved, care=care)


def place(file: "RequestFile", resolved: "Resolved", *, care: Care) -> Job:
    """The requests of ``file`` on a scenario; raises as :func:`prepare` does."""
    from longhaul.scenario.lower.paths import Routes
    from longhaul.transfers.plan import networks, request_files

    plan = resolved.plan
    network = networks.scenario_network(plan, payload=True)
    case = request_files.placed(file, network=network, capacity_bits_per_s=None)
    position = {node["name"]: index for index, node in enumerate(plan["nodes"])}
    routes, ends, round_trips = Routes(plan), [], []
    taken = {item["name"] for item in resolved.traffic} | {each["name"] for each in plan["programs"]}
    for request in case.requests:
        pair = position[request.source], position[request.destination]
        for node in pair:
            if plan["nodes"][node]["kind"] != "host":
                _refuse(request.name, f"{plan['nodes'][node]['name']} is a router", "name a host")
        if request.name in taken:
            _refuse(request.name, "traffic or a program of the scenario has that name", "rename one of them")
        way = routes.way(*pair)
        if way is None:
            _refuse(request.name, "there is no path back", "add a link")
        else:
            round_trips.append(way.round_trip_ns / 1e9)
        ends.append(pair)
    return Job(resolved, case, care, tuple(ends), tuple(round_trips), tuple(networks.link_changes(plan)))


def rows(job: Job, *, simulated: bool) -> list[dict[str, Any]]:
    """A row of traffic for each request, as results want it."""
    nodes = job.resolved.plan["nodes"]
    return [
        {
            "name": request.name,
            "kind": "tcp",
            "program": request.name,
            "server": None,
            "from": nodes[source]["name"],
            "to": nodes[destination]["name"],
            "cc": None,
            "rate_bits_per_s": None,
            "every_ns": None,
            "start_ns": round((LEAD_S + request.release_s) * 1e9),
            "stop_ns": None,
            "volume_bytes": request.volume_bytes,
            "simulated": simulated,
        }
        for request, (source, destination) in zip(job.case.requests, job.ends, strict=True)
    ]


def horizon_ns(job: Job) -> int:
    """When even the slowest way to do it is over."""
    duration_ns: int | None = job.resolved.plan["duration_ns"]
    if duration_ns is not None:
        return duration_ns
    release_s = max(each.release_s for each in job.case.requests)
    alone_s = sum(
        each.volume_bits / top for each, top in zip(job.case.requests, job.case.tops_bits_per_s, strict=True)
    )
    last_change_s = max((at_s for at_s, _link, _bits in job.changes), default=0.0)
    return round((LEAD_S + release_s + 10 * alone_s + last_change_s + 60) * 1e9)


def watch_s(job: Job) -> float:
    """How often to look how far transfers are."""
    spans = [
        each.volume_bits / top for each, top in zip(job.case.requests, job.case.tops_bits_per_s, strict=True)
    ]
    return min(max(min(spans) / 40, 0.05), 1.0)


def _refuse(name: str, message: str, remedy: str) -> None:
    raise LonghaulError(Code.REQUEST_NETWORK, f"request {name}: {message}", remedy=remedy, exit_code=2)
