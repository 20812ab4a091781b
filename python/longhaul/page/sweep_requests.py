"""Requests about sweeps: start, events, stop, results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul.analysis.estimates import runs_text
from longhaul.diagnostics import Code
from longhaul.page import processes, run_list
from longhaul.page.bodies import SweepStart
from longhaul.page.comparison_requests import finite
from longhaul.page.json_requests import Asked
from longhaul.page.processes import Started
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.events import Failure, Warned
from longhaul.page.responses.files import SweepCell
from longhaul.page.responses.runs import Begun
from longhaul.page.responses.studies import SweepProgress, SweepResult
from longhaul.page.responses.texts import Done
from longhaul.page.text_requests import Texts
from longhaul.results.run_files import read_json


@dataclass
class Sweeps:
    """Answers about the sweeps of one directory."""

    texts: Texts
    _started: dict[str, Started] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        """Where their directories are."""
        return self.texts.directory / "runs"

    def start(self, _asked: Asked, body: SweepStart) -> Begun:
        """Start the sweep that a text or a file asks for."""
        # Each takes all processors there are.
        if any(not each.has_ended for each in list(self._started.values())):
            raise RefusedError(Code.PAGE_CONFLICT, 409, "a sweep is under way", remedy="wait, or stop it")
        name, text = self.texts.source(body)
        given = (part for key, value in body.settings.items() for part in ("--set", f"{key}={value}"))
        orders = {
            "text": text,
            "name": name,
            "settings": body.settings,
            "runs": str(self.runs),
            "argv": ["longhaul", "sweep", name, *given],
        }
        started = processes.start(orders, cwd=self.texts.base(body.base), program="sweeping")
        run = run_list.id_of(started.directory)
        self._started[run] = started
        return {"id": run, "directory": str(started.directory)}

    def look(self, asked: Asked) -> SweepResult:
        """Axes, metrics and an estimate of each for each variant, as far as they are; and how far it is.

        ``metric`` of the query is the one whose charts are wanted. ``progress`` is ``None`` but for a sweep
        that this server started and that goes on.
        """
        from longhaul.report.chart_json import chart_json
        from longhaul.sweeps.page import read_estimates

        directory = run_list.find(self.runs, asked.path["run"], kind="sweep.json")
        started = self._started.get(asked.path["run"])
        goes_on = started is not None and not started.has_ended
        estimates = read_estimates(directory)
        metric = _shown(estimates.metrics, asked.query.get("metric"))
        row = run_list.sweep(directory)
        row["can_stop"] = goes_on
        told: SweepResult = {
            "row": row,
            "progress": _progress(started) if started is not None and goes_on else None,
            "messages": _messages(started) if started is not None else [],
            "sweep": read_json(directory / "sweep.json"),
            "summary": read_json(directory / "summary.json"),
            "metrics": estimates.metrics,
            "rows": [_cell(each) for each in estimates.rows],
            "metric": metric,
            "charts": [chart_json(each) for each in estimates.charts(metric)],
        }
        return finite(told)

    def stop(self, asked: Asked) -> Done:
        """Ask a sweep to end; what it has done is kept."""
        started = self._started.get(asked.path["run"])
        if started is None or started.has_ended:
            run_list.find(self.runs, asked.path["run"], kind="sweep.json")
            raise RefusedError(
                Code.PAGE_CONFLICT,
                409,
                "this page does not run the sweep",
                remedy="press Ctrl-C where it was started",
            )
        started.stop()
        return {"ok": True}


def _shown(metrics: Sequence[str], wanted: str | None) -> str | None:
    """The metric whose charts are shown: the one that is wanted, or else a goodput, or the first."""
    if wanted in metrics:
        return wanted
    return next((each for each in metrics if "goodput" in each), next(iter(metrics), None))


def _cell(row: Mapping[str, Any]) -> SweepCell:
    repeats = row.get("repeats", row["runs"])
    return {**row, "repeats": repeats, "n": runs_text(row["runs"], repeats)}  # type: ignore[typeddict-item]


def _progress(started: Started) -> SweepProgress | None:
    swept = started.swept
    return swept and {
        "done": swept["done"],
        "points": swept["points"],
        "left_text": swept["left_text"],
    }


def _messages(started: Started) -> list[Warned | Failure]:
    return [each for each in started.events if each["event"] == "warning" or each["event"] == "problem"]
