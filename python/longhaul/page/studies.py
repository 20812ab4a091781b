"""What the page asks beyond single runs: comparisons, sweeps, plans of transfers."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from longhaul.errors import LonghaulError
from longhaul.page import shelf
from longhaul.page.answers.studies import Comparison, Load, Policies, TransferPlan
from longhaul.page.asking import Asked
from longhaul.page.looking import NAME
from longhaul.page.refusals import RefusedError
from longhaul.page.texts import Texts
from longhaul.scenario.load import parse_scenario
from longhaul.scenario.units import Rate, UnitError

if TYPE_CHECKING:
    from longhaul.run.comparison import Group
    from longhaul.scheduling.instances import Network

Answer = TypeVar("Answer")

_MOST_RUNS = 50
_REQUESTS = "requests.yaml"


@dataclass(frozen=True)
class Studies:
    """Answers about several runs of one directory, and about transfers."""

    texts: Texts

    @property
    def runs(self) -> Path:
        """Where run directories are."""
        return self.texts.directory / "runs"

    def compare(self, asked: Asked) -> Comparison:
        """Metrics of runs side by side; a list within ``runs`` counts as repetitions."""
        from longhaul.report.comparison import as_plain
        from longhaul.run.comparison import compare_groups, counted

        given = asked.body.get("runs")
        if not isinstance(given, list) or not 2 <= len(given) <= _MOST_RUNS:
            raise RefusedError(400, f'"runs" must be a list of 2 to {_MOST_RUNS}')
        groups = [self._group(each) for each in given]
        metrics = asked.body.get("metrics") or []
        if not isinstance(metrics, list) or not all(isinstance(each, str) for each in metrics):
            raise RefusedError(400, '"metrics" must be a list of patterns')
        rows = compare_groups(groups, metrics)
        told = as_plain(counted(groups), rows)
        answer: Comparison = {"groups": told["groups"], "metrics": told["metrics"]}
        return finite(answer)

    def policies(self, _asked: Asked) -> Policies:
        """The policies, each with a line."""
        from longhaul.scheduling.policies import POLICIES

        return {"policies": [{"name": name, "about": each.what} for name, each in POLICIES.items()]}

    def plan(self, asked: Asked) -> TransferPlan:
        """A plan of the transfers that a text asks for."""
        from longhaul.scheduling import plans, policies, reading, writing

        name = "requests.csv" if asked.body.get("format") == "csv" else _REQUESTS
        file = reading.parse_requests(asked.text("text").encode(), name=name)
        network = self._network(asked)
        case = reading.placed(file, network=network, capacity_bits_per_s=_capacity(asked))
        made = policies.plan(case, policy=asked.text("policy", most=60))
        curves: list[Load] = [
            {"link": link.name, "t_s": times.tolist(), "bits_per_s": load.tolist()}
            for link, (times, load) in zip(made.instance.links, plans.loads(made), strict=True)
        ]
        told = writing.plan_as_plain(made)
        answer: TransferPlan = {
            "policy": told["policy"],
            "measures": told["measures"],
            "congestion": told["congestion"],
            "requests": told["requests"],
            "links": told["links"],
            "loads": curves,
        }
        return finite(answer)

    def _network(self, asked: Asked) -> "Network | None":
        from longhaul.scenario.resolve import resolve
        from longhaul.scheduling.networks import scenario_network

        scenario = asked.body.get("scenario")
        if scenario is None:
            return None
        text = asked.text("scenario")
        parsed = parse_scenario(text.encode(), name=NAME, folder=self.texts.base(asked))
        return scenario_network(resolve(parsed).plan)

    def _group(self, given: Any) -> "Group":
        from longhaul.run.comparison import Group

        names = given if isinstance(given, list) else [given]
        if not names or not all(isinstance(each, str) for each in names):
            raise RefusedError(400, "a run is named by its id")
        found = tuple(shelf.find(self.runs, each) for each in names)
        for directory in found:
            if not (directory / "summary.json").is_file():
                raise RefusedError(409, f"{directory.name} has no results yet", remedy="wait for its end")
        return Group(" ".join(names), found)


def _capacity(asked: Asked) -> int | None:
    if asked.body.get("capacity") is None:
        return None
    try:
        return Rate.parse(asked.text("capacity", most=60)).bits_per_s
    except UnitError as error:
        raise LonghaulError(error.message, remedy=error.remedy, exit_code=2) from None


def finite(content: Answer) -> Answer:
    """``content`` for JSON, which knows no infinity."""
    return cast("Answer", _known(content))


def _known(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _known(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [_known(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
