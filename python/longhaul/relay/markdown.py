"""The results of a relay as Markdown, for the appendix of a paper."""

from collections.abc import Iterator
from pathlib import Path

from longhaul.analysis.changes import verdict_text
from longhaul.analysis.outcome import Outcome
from longhaul.relay.report import tables
from longhaul.report.markdown import conditions, escaped, facts_table, fenced, markdown, write_parts
from longhaul.results.run_files import kept_json, kept_text
from longhaul.units.text import bytes_text, duration_text, time_text

_TITLES = {
    "expectations": "Expectations",
    "links": "Links",
    "connections": "Connections",
    "changes": "Changes of the network",
}


def write_relay(directory: Path) -> Path:
    """Write ``report.md`` of the relay in ``directory``, which has results; returns its path."""
    return write_parts(directory, _parts(directory))


def _parts(directory: Path) -> Iterator[str]:
    summary, run = kept_json(directory, "summary.json"), kept_json(directory, "run.json")
    lateness, duration_ns = summary["fidelity"]["lateness"], summary["duration_ns"]
    yield f"# {escaped(summary['name'] or directory.name)}"
    yield facts_table(
        {
            "outcome": Outcome.from_dict(summary["outcome"]).headline,
            "network": verdict_text(summary),
            "duration": duration_text(duration_ns / 1e9) if duration_ns is not None else "",
            "passed on": bytes_text(summary["bytes"]),
            "lateness": f"p50 {time_text(lateness['p50_ns'])}, p99 {time_text(lateness['p99_ns'])}"
            if lateness.get("p50_ns") is not None
            else "",
            **conditions(run),
            "seed": str(run["seed"]),
        }
    )
    for name, table in tables(directory, summary).items():
        text = markdown(table) if table is not None else ""
        if text:
            yield f"## {_TITLES[name]}"
            yield text
    yield "## Scenario"
    yield fenced(kept_text(directory, "scenario.yaml"), "yaml")
