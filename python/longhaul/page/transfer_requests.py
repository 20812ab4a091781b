"""Requests about bulk transfers: their files, tables, plans and runs."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page import folder, library
from longhaul.page.bodies import RequestsTable, RequestsText, TransferRequests, TransferStart
from longhaul.page.comparison_requests import finite
from longhaul.page.json_requests import Asked
from longhaul.page.quantities import parse_quantity
from longhaul.page.refusals import as_problem
from longhaul.page.responses.runs import Begun
from longhaul.page.responses.texts import FileEntry
from longhaul.page.responses.transfers import (
    ExampleRequests,
    Policies,
    RequestFiles,
    RequestsRead,
    TransferPlan,
    TransferRun,
)
from longhaul.page.run_requests import Experiments
from longhaul.page.scenario_check import NAME
from longhaul.page.text_requests import Texts
from longhaul.scenario.check.load import parse_scenario
from longhaul.units.quantities import Rate, Span

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

EXAMPLES = library.SCENARIOS / "transfers"
"""Files of requests, each with a scenario: ``NAME-requests.yaml`` and ``NAME.yaml``."""
_REQUESTS = re.compile(r"^requests[ \t]*:", re.MULTILINE)
_COLUMNS = re.compile(r"(?=.*\bfrom\b)(?=.*\bto\b)(?=.*\bvolume\b)")
"""Of a file's first line, if it is CSV."""


@dataclass(frozen=True)
class Transfers:
    """Answers about bulk transfers in one directory."""

    texts: Texts
    experiments: Experiments

    def files(self, _asked: Asked) -> RequestFiles:
        """Files of requests in the directory, and examples."""
        found: list[FileEntry] = []
        for entry in folder.listing(self.texts.directory, data=True):
            text = folder.read(self.texts.directory, entry["name"])["text"]
            is_csv = entry["name"].endswith(".csv")
            if _COLUMNS.match(text) if is_csv else _REQUESTS.search(text):
                found.append(entry)
        examples: list[ExampleRequests] = []
        for path in sorted(EXAMPLES.glob("*-requests.yaml")):
            scenario = path.with_name(path.name.replace("-requests.yaml", ".yaml"))
            examples.append(
                {
                    "name": path.name,
                    "text": path.read_text(encoding="utf-8"),
                    "scenario_name": scenario.name,
                    "scenario": scenario.read_text(encoding="utf-8"),
                }
            )
        return {"files": found, "examples": examples}

    def policies(self, _asked: Asked) -> Policies:
        """The policies, each with a line."""
        from longhaul.transfers.plan.policies import POLICIES

        return {
            "policies": [
                {"name": name, "about": each.what, "wants": list(each.wants)}
                for name, each in POLICIES.items()
            ]
        }

    def table(self, _asked: Asked, body: RequestsTable) -> RequestsRead:
        """The requests of a text as a table, after edits, and everything that is wrong with them."""
        from longhaul.transfers.plan.request_edits import RequestEdit, edit_requests, request_table

        name = _file_name(body)
        edits = [
            RequestEdit(each.op, each.request, each.column, each.text, tuple(each.cells.items()))
            for each in body.edits
        ]
        text = edit_requests(body.text, edits, name=name)
        found = request_table(text.encode(), name=name)
        ends = list(found.points)
        if body.scenario is not None:
            nodes = self._resolved(body).plan["nodes"]
            ends = [str(node["name"]) for node in nodes if node["kind"] == "host"]
        return {
            "text": text,
            "rows": [{"name": each.name, "line": each.line, "cells": each.cells} for each in found.rows],
            "ends": ends,
            "problems": [as_problem(each) for each in found.problems],
        }

    def plan(self, _asked: Asked, body: TransferRequests) -> TransferPlan:
        """A plan of the transfers that a text asks for."""
        from longhaul.report.chart_json import chart_json
        from longhaul.transfers.plan import plan_data, policies, request_files
        from longhaul.transfers.plan.networks import scenario_network
        from longhaul.transfers.report import charts

        settings = policies.settings(body.policy, f=body.f, window_s=_window_s(body.window))
        file = request_files.parse_requests(body.text.encode(), name=_file_name(body))
        capacity = None if body.capacity is None else parse_quantity(Rate, body.capacity).bits_per_s
        network = None if body.scenario is None else scenario_network(self._resolved(body).plan)
        case = request_files.placed(file, network=network, capacity_bits_per_s=capacity)
        made = policies.plan(case, policy=body.policy, settings=settings)
        told = plan_data.plan_as_plain(made)
        answer: TransferPlan = {
            "policy": told["policy"],
            "measures": told["measures"],
            "congestion": told["congestion"],
            "requests": told["requests"],
            "links": told["links"],
            "charts": [chart_json(chart) for make in charts(made).values() if (chart := make())],
        }
        return finite(answer)

    def start(self, _asked: Asked, body: TransferStart) -> Begun:
        """Carry out transfers on the network of a scenario, as ``longhaul transfer run`` does."""
        from longhaul.transfers.plan import policies

        if body.scenario is None:
            raise LonghaulError(
                Code.REQUEST_NETWORK,
                "transfers run on the hosts of a scenario, and none is given",
                remedy="choose a scenario as the network",
                exit_code=2,
            )
        policies.settings(body.policy, f=body.f, window_s=_window_s(body.window))
        scenario, requests = body.scenario_file or NAME, body.requests_file or _file_name(body)
        options = {"--policy": body.policy, "--f": body.f, "--window": body.window, "--seed": body.seed}
        given = [str(word) for pair in options.items() if pair[1] is not None for word in pair]
        given += [word for key, value in body.settings.items() for word in ("--set", f"{key}={value}")]
        return self.experiments.begin(
            {
                "mode": body.mode,
                "text": body.scenario,
                "name": scenario,
                "settings": body.settings,
                "seed": body.seed,
                "folder": str(self.texts.base(body.base)),
                "runs": str(self.experiments.runs),
                "argv": [
                    *("longhaul", "transfer", "run", requests, "--scenario", scenario, *given),
                    *(["--sim"] if body.mode == "sim" else []),
                ],
                "transfers": {
                    "text": body.text,
                    "name": requests,
                    "policy": body.policy,
                    "f": body.f,
                    "window_s": _window_s(body.window),
                    "margin": body.margin,
                    "attempts": body.attempts,
                    "program": body.program,
                    "pacing": body.pacing,
                },
            }
        )

    def look(self, asked: Asked) -> TransferRun:
        """How far transfers are that this server carries out."""
        self.experiments.directory_of(asked)
        told = self.experiments.transferred(asked.path["run"])
        if told is None:
            return {"progress": None}
        return {
            "progress": {
                "over": told["over"],
                "requests": told["requests"],
                "moved_bytes": told["moved_bytes"],
                "volume_bytes": told["volume_bytes"],
                "left_text": told["left_text"],
            }
        }

    def _resolved(self, body: RequestsText) -> "Resolved":
        from longhaul.scenario.lower.resolve import resolve

        text = (body.scenario or "").encode()
        return resolve(parse_scenario(text, name=NAME, folder=self.texts.base(body.base)))


def _file_name(body: RequestsText) -> str:
    """What errors call the text; its ending says the format."""
    return f"requests.{body.format}"


def _window_s(text: str | None) -> float | None:
    return None if text is None else parse_quantity(Span, text).ns / 1e9
