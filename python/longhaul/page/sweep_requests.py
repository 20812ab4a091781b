"""Requests about sweeps: start, events, stop, results."""

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
from longhaul.page.responses.runs import Begun
from longhaul.page.responses.studies import SweepProgress, SweepResult
from longhaul.page.responses.texts import Done
from longhaul.page.text_requests import Texts
from longhaul.results.run_files import read_json

_MOST_ROWS = 5_000


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

        ``progress`` is ``None`` but for a sweep that this server started and that goes on.
        """
        import pyarrow.parquet as pq

        directory = run_list.find(self.runs, asked.path["run"], kind="sweep.json")
        started = self._started.get(asked.path["run"])
        goes_on = started is not None and not started.has_ended
        table = directory / "summary.parquet"
        rows: list[Any] = pq.read_table(table).slice(0, _MOST_ROWS).to_pylist() if table.is_file() else []
        for each in rows:
            each.setdefault("repeats", each["runs"])
            each["n"] = runs_text(each["runs"], each["repeats"])
        row = run_list.sweep(directory)
        row["can_stop"] = goes_on
        told: SweepResult = {
            "row": row,
            "progress": _progress(started) if started is not None and goes_on else None,
            "messages": _messages(started) if started is not None else [],
            "sweep": read_json(directory / "sweep.json"),
            "summary": read_json(directory / "summary.json"),
            "metrics": list(dict.fromkeys(each["metric"] for each in rows)),
            "rows": rows,
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


def _progress(started: Started) -> SweepProgress | None:
    swept = started.swept
    return swept and {
        "done": swept["done"],
        "points": swept["points"],
        "left_text": swept["left_text"],
    }


def _messages(started: Started) -> list[Warned | Failure]:
    return [each for each in started.events if each["event"] == "warning" or each["event"] == "problem"]
