"""The addresses of the HTTP API, and the handler of each."""

from dataclasses import dataclass

from longhaul.page.comparison_requests import Comparisons
from longhaul.page.export_requests import Exports
from longhaul.page.job_requests import JobRequests
from longhaul.page.json_requests import Answerer
from longhaul.page.kernel_requests import KernelRequests
from longhaul.page.machine_requests import Machines
from longhaul.page.place_requests import cities, fibres
from longhaul.page.relay_requests import Relays
from longhaul.page.run_action_requests import RunActions
from longhaul.page.services import Services
from longhaul.page.shard_requests import ShardRequests
from longhaul.page.study_requests import Studies
from longhaul.page.sweep_requests import Sweeps
from longhaul.page.trace_requests import TraceRequests
from longhaul.page.transfer_requests import Transfers

_READ_REQUESTS = frozenset(
    (
        "/check",
        "/preflight",
        "/shards",
        "/edit",
        "/quantity",
        "/fibres",
        "/archive",
        "/runs/{run}/ticket",
        "/runs/{run}/captures/{link}/ticket",
        "/compare",
        "/compare/report",
        "/export",
        "/export/archive",
        "/export/machines",
        "/transfers/requests",
        "/transfers/plan",
        "/traces",
        "/relays/check",
        "/relays/paths",
    )
)
"""Addresses of requests that have a body and change nothing."""


@dataclass(frozen=True)
class Address:
    """What is asked for by ``method`` at ``path``; the type of the answer is that of ``answer``."""

    method: str
    path: str
    answer: Answerer

    def __str__(self) -> str:
        """As documents call it."""
        return f"{self.method} {self.path}"

    @property
    def changes(self) -> bool:
        """Whether a request changes files, results or a run, and a read-only server refuses it."""
        return self.method != "GET" and self.path not in _READ_REQUESTS

    @property
    def route(self) -> str:
        """As the server finds it: a file's name with a slash is refused as a name, not as an address."""
        return self.path.replace("/files/{name}", "/files/{name:path}")


def addresses(services: Services) -> list[Address]:
    """All but ``/events``, which streams, and terminals, which are WebSockets."""
    texts, experiments, jobs = services.texts, services.experiments, services.jobs
    hosts, links, captures = services.hosts, services.links, services.captures
    sweeps, comparisons, actions = Sweeps(texts), Comparisons(texts), RunActions(experiments)
    transfers, studies, job_requests = Transfers(texts, experiments), Studies(jobs), JobRequests(jobs)
    traces = TraceRequests(texts.directory, jobs)
    kernels, shards = KernelRequests(jobs), ShardRequests(texts)
    relays = Relays(texts, experiments, jobs)
    machines, exports = Machines(texts, jobs), Exports(texts, experiments)
    return [
        Address("GET", "/state", texts.state),
        Address("GET", "/schema", texts.schema),
        Address("GET", "/scenarios/{name}", texts.scenario),
        Address("GET", "/templates/{name}", texts.template),
        Address("GET", "/files/{name}", texts.file),
        Address("PUT", "/files/{name}", texts.save),
        Address("POST", "/check", texts.check),
        Address("POST", "/preflight", texts.preflight),
        Address("POST", "/edit", texts.edit),
        Address("POST", "/quantity", texts.quantity),
        Address("GET", "/cities", cities),
        Address("POST", "/fibres", fibres),
        Address("GET", "/traces", traces.files),
        Address("POST", "/traces", traces.look),
        Address("PUT", "/traces/{name}", traces.save),
        Address("POST", "/traces/collect", traces.collect),
        Address("GET", "/relays", relays.all),
        Address("POST", "/relays", relays.start),
        Address("POST", "/relays/check", relays.check),
        Address("POST", "/relays/paths", relays.paths),
        Address("GET", "/relays/{run}", relays.look),
        Address("GET", "/relays/{run}/charts", relays.charts),
        Address("GET", "/certificate", texts.certificate),
        Address("POST", "/export", exports.export),
        Address("POST", "/export/archive", exports.archive),
        Address("POST", "/export/machines", exports.machines),
        Address("POST", "/doctor", machines.check),
        Address("POST", "/calibrate", machines.calibrate),
        Address("GET", "/kernels", kernels.all),
        Address("POST", "/kernels", kernels.build),
        Address("POST", "/shards", shards.divide),
        Address("GET", "/runs", experiments.all),
        Address("POST", "/runs", experiments.start),
        Address("GET", "/runs/{run}", experiments.details),
        Address("DELETE", "/runs/{run}", actions.delete),
        Address("POST", "/runs/{run}/restore", actions.restore),
        Address("PUT", "/runs/{run}/annotations", actions.annotate),
        Address("POST", "/runs/{run}/reproduce", actions.reproduce),
        Address("POST", "/archive", actions.archive),
        Address("GET", "/runs/{run}/network", experiments.network),
        Address("POST", "/runs/{run}/stop", experiments.stop),
        Address("POST", "/runs/{run}/set", experiments.set),
        Address("POST", "/runs/{run}/ticket", experiments.ticket),
        Address("GET", "/runs/{run}/links/{link}", links.now),
        Address("POST", "/runs/{run}/captures", captures.begin),
        Address("GET", "/runs/{run}/captures/{link}", captures.packets),
        Address("DELETE", "/runs/{run}/captures/{link}", captures.end),
        Address("GET", "/runs/{run}/captures/{link}/packets/{number}", captures.packet),
        Address("POST", "/runs/{run}/captures/{link}/ticket", captures.download),
        Address("POST", "/runs/{run}/impairments", links.cause),
        Address("DELETE", "/runs/{run}/impairments/{impairment}", links.undo),
        Address("GET", "/runs/{run}/hosts/{host}", hosts.now),
        Address("GET", "/runs/{run}/terminals", hosts.terminals),
        Address("POST", "/runs/{run}/terminals", hosts.start_terminal),
        Address("DELETE", "/runs/{run}/terminals/{terminal}", hosts.end_terminal),
        Address("GET", "/runs/{run}/logs/{program}", experiments.log),
        Address("GET", "/runs/{run}/series", experiments.series),
        Address("GET", "/runs/{run}/packets", experiments.packets),
        Address("POST", "/sweeps", sweeps.start),
        Address("GET", "/sweeps/{run}", sweeps.look),
        Address("POST", "/sweeps/{run}/stop", sweeps.stop),
        Address("POST", "/compare", comparisons.compare),
        Address("POST", "/compare/report", actions.report),
        Address("GET", "/jobs", job_requests.all),
        Address("GET", "/jobs/{job}", job_requests.look),
        Address("POST", "/jobs/{job}/stop", job_requests.stop),
        Address("GET", "/studies", studies.all),
        Address("GET", "/studies/{study}", studies.look),
        Address("POST", "/studies/{study}/runs", studies.start),
        Address("GET", "/studies/{study}/figures/{figure}", studies.figure),
        Address("GET", "/transfers/files", transfers.files),
        Address("GET", "/transfers/policies", transfers.policies),
        Address("POST", "/transfers/requests", transfers.table),
        Address("POST", "/transfers/plan", transfers.plan),
        Address("POST", "/transfers/runs", transfers.start),
        Address("GET", "/transfers/runs/{run}", transfers.look),
    ]
