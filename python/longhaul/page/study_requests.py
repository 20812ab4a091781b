"""Requests about comparisons, sweeps and transfer plans."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page import run_list
from longhaul.page.bodies import RunComparison, TransferRequests
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.studies import Comparison, Load, Policies, TransferPlan
from longhaul.page.scenario_check import NAME
from longhaul.page.text_requests import Texts
from longhaul.scenario.check.load import parse_scenario
from longhaul.units.quantities import Rate, UnitError

if TYPE_CHECKING:
    from longhaul.transfers.plan.instances import Network

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Studies:
    """Answers about several runs of one directory, and about transfers."""

    texts: Texts

    @property
    def runs(self) -> Path:
        """Where run directories are."""
        return self.texts.directory / "runs"

    def compare(self, _asked: Asked, body: RunComparison) -> Comparison:
        """Runs side by side; a list within ``runs`` counts as repetitions."""
        from longhaul.page.comparison import compare

        return finite(compare(found_groups(self.runs, body), body))

    def policies(self, _asked: Asked) -> Policies:
        """The policies, each with a line."""
        from longhaul.transfers.plan.policies import POLICIES

        return {"policies": [{"name": name, "about": each.what} for name, each in POLICIES.items()]}

    def plan(self, _asked: Asked, body: TransferRequests) -> TransferPlan:
        """A plan of the transfers that a text asks for."""
        from longhaul.transfers.plan import plan_data, plans, policies, request_files

        file = request_files.parse_requests(body.text.encode(), name=f"requests.{body.format}")
        capacity = None if body.capacity is None else _capacity(body.capacity)
        case = request_files.placed(file, network=self._network(body), capacity_bits_per_s=capacity)
        made = policies.plan(case, policy=body.policy)
        curves: list[Load] = [
            {"link": link.name, "t_s": times.tolist(), "bits_per_s": load.tolist()}
            for link, (times, load) in zip(made.instance.links, plans.loads(made), strict=True)
        ]
        told = plan_data.plan_as_plain(made)
        answer: TransferPlan = {
            "policy": told["policy"],
            "measures": told["measures"],
            "congestion": told["congestion"],
            "requests": told["requests"],
            "links": told["links"],
            "loads": curves,
        }
        return finite(answer)

    def _network(self, body: TransferRequests) -> "Network | None":
        from longhaul.scenario.lower.resolve import resolve
        from longhaul.transfers.plan.networks import scenario_network

        if body.scenario is None:
            return None
        parsed = parse_scenario(body.scenario.encode(), name=NAME, folder=self.texts.base(body.base))
        return scenario_network(resolve(parsed).plan)


def found_groups(runs: Path, body: RunComparison) -> list[list[Path]]:
    """The run directories of a comparison. Raises RefusedError if one is not there, or has no results."""
    names = [[each] if isinstance(each, str) else each for each in body.runs]
    return [[_with_results(runs, each) for each in group] for group in names]


def _with_results(runs: Path, name: str) -> Path:
    directory = run_list.find(runs, name)
    if not (directory / "summary.json").is_file():
        raise RefusedError(
            Code.PAGE_CONFLICT, 409, f"{directory.name} has no results yet", remedy="wait for its end"
        )
    return directory


def _capacity(text: str) -> int:
    try:
        return Rate.parse(text).bits_per_s
    except UnitError as error:
        raise LonghaulError(error.code, error.message, remedy=error.remedy, exit_code=2) from None


def finite(content: Answer) -> Answer:
    """``content`` for JSON, which knows no infinity."""
    return cast("Answer", _known(content))


def _known(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _known(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [_known(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
