"""The results of a run as Markdown, for the appendix of a paper."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul import storage
from longhaul.analysis.changes import verdict_text
from longhaul.analysis.outcome import Outcome
from longhaul.report.html import results_tables
from longhaul.report.tables import Cell, Column, Folded, Row, Table
from longhaul.results.run_files import kept_json, kept_text
from longhaul.units.text import duration_text, rate_text

Json = Mapping[str, Any]

_TAG = re.compile(r"<[^>]*>")
_SPECIAL = re.compile(r"([\\`*_|<\[])")


def write_run(directory: Path) -> Path:
    """Write ``report.md`` of the run in ``directory``, which has results; returns its path."""
    return write_parts(directory, _of_run(directory))


def write_parts(directory: Path, parts: Iterable[str]) -> Path:
    """Write ``report.md`` of these paragraphs, tables and headings; returns its path."""
    path = directory / "report.md"
    write_text(path, parts)
    return path


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write these paragraphs, tables and headings to ``path``."""
    storage.replace_text(path, "\n\n".join(parts) + "\n")


def _of_run(directory: Path) -> Iterator[str]:
    summary, run = kept_json(directory, "summary.json"), kept_json(directory, "run.json")
    outcome = Outcome.from_dict(summary["outcome"])
    yield f"# {escaped(summary['name'] or directory.name)}"
    duration_ns = summary["duration_ns"]
    yield facts_table(
        {
            "outcome": outcome.headline,
            "network": verdict_text(summary),
            "duration": duration_text(duration_ns / 1e9) if duration_ns is not None else "",
            **conditions(run),
            "seed": str(run["seed"]),
            "parameters": ", ".join(f"{key}={value}" for key, value in (run.get("settings") or {}).items()),
        }
    )
    tables = results_tables(directory)
    sections: Sequence[tuple[str, Sequence[Any]]] = (
        ("Expectations", [tables["expectations"] if summary["expectations"] else None]),
        ("Traffic", [*tables["traffic"], tables["sent_captures"], tables["transfers"]]),
        ("Links: configured and measured", [tables["inner"] if summary["links"] else None]),
        ("Dropped packets by cause and link", [tables["drops"]]),
        ("Interfaces of the machine", [tables["interfaces"]]),
        (
            "Programs",
            [tables["programs"] if summary["programs"] else None, tables["iterations"], tables["printed"]],
        ),
        ("Changes of the network", [tables["changes"] if summary["changes"] else None]),
    )
    for title, found in sections:
        texts = [text for each in found if each is not None and (text := markdown(each))]
        if texts:
            yield f"## {title}"
            yield from texts
        if title == "Traffic" and summary.get("total"):
            total = summary["total"]
            goodput = rate_text(total["goodput_bits_per_s"])
            yield f"Total goodput: {goodput} of {total['flows']} flows, each over its own time."
        if title == "Traffic" and summary.get("fairness"):
            shared = summary["fairness"]
            yield f"Jain's fairness index: {shared['jain']:.3f} over {shared['streams']} TCP streams."
    yield "## Scenario"
    yield fenced(kept_text(directory, "scenario.yaml"), "yaml")


def conditions(record: Json) -> dict[str, str]:
    """The machine, the version, the time and the command of a run or a sweep, from its record."""
    host = record["host"]
    return {
        "machine": f"{host['cpu_model']}, {host['cpus']} CPU cores, Linux {host['kernel']}",
        "Longhaul": record["versions"]["longhaul"],
        "started": record["started"],
        "command": " ".join(["longhaul", *record["argv"][1:]]),
    }


def facts_table(facts: Mapping[str, str]) -> str:
    """A table of quantities and their values, without those that are empty."""
    rows = [Row([name, value]) for name, value in facts.items() if value]
    return markdown(Table([Column("quantity", is_number=False), Column("value", is_number=False)], rows))


def markdown(table: Table | Folded) -> str:
    """A table as one of GitHub's Markdown; empty for one without rows."""
    if isinstance(table, Folded):
        parts = [markdown(table.first), markdown(table.rest) if table.rest else "", escaped(table.note)]
        return "\n\n".join(filter(None, parts))
    if not table.rows:
        return ""
    lines = [
        [escaped(each.head) for each in table.columns],
        ["---:" if each.is_number else "---" for each in table.columns],
    ]
    rows = [*table.rows, *([table.foot] if table.foot else [])]
    lines += [_cells(row, len(table.columns)) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Row, count: int) -> list[str]:
    found: list[str] = []
    for each in row.cells:
        cell = each if isinstance(each, Cell) else Cell(each)
        text = html.unescape(_TAG.sub(" ", cell.text)).strip() if cell.is_html else cell.text
        found += [escaped(text), *([""] * (cell.columns - 1))]
    return found + [""] * (count - len(found))


def escaped(text: str) -> str:
    """Text in which no character has a meaning in Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def fenced(text: str, language: str) -> str:
    """``text`` as a block of code, whatever fences are in it."""
    longest = max((len(each) for each in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
