"""The addresses of the HTTP API, and the handler of each."""

from dataclasses import dataclass

from longhaul.page.capture_requests import Captures
from longhaul.page.host_requests import Hosts
from longhaul.page.json_requests import Answerer
from longhaul.page.link_requests import Links
from longhaul.page.place_requests import cities, fibres
from longhaul.page.run_action_requests import RunActions
from longhaul.page.run_requests import Experiments
from longhaul.page.study_requests import Studies
from longhaul.page.sweep_requests import Sweeps
from longhaul.page.text_requests import Texts

_READ_REQUESTS = frozenset(
    (
        "/check",
        "/preflight",
        "/edit",
        "/quantity",
        "/fibres",
        "/archive",
        "/runs/{run}/ticket",
        "/runs/{run}/captures/{link}/ticket",
        "/compare",
        "/compare/report",
        "/transfers/plan",
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


def addresses(
    texts: Texts, experiments: Experiments, hosts: Hosts, links: Links, captures: Captures
) -> list[Address]:
    """All but ``/events``, which streams, and terminals, which are WebSockets."""
    sweeps, studies, actions = Sweeps(texts), Studies(texts), RunActions(experiments)
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
        Address("GET", "/certificate", texts.certificate),
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
        Address("POST", "/compare", studies.compare),
        Address("POST", "/compare/report", actions.report),
        Address("GET", "/transfers/policies", studies.policies),
        Address("POST", "/transfers/plan", studies.plan),
    ]
