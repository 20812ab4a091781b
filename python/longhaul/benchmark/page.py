"""The report of a benchmark: one self-contained HTML file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.benchmark import figures
from longhaul.benchmark.rows import MODES, disagreements, scorecard, tables
from longhaul.report.page import page, write_page
from longhaul.units.text import rate_text

Json = Mapping[str, Any]

_CHAPTERS = (
    ("Effectiveness", ("access", "data-centre", "trans-oceanic", "satellite", "wireless", "dial-up")),
    ("Delay against throughput", ("trade-off",)),
    ("Convergence", ("ramp-up",)),
    ("Responsiveness", ("release", "arrival")),
    ("Friendliness", ("impact",)),
    ("Fairness", ("fairness", "rtt-fairness", "bottlenecks")),
)


def write_benchmark_report(directory: Path) -> Path:
    """Write ``report.html`` into the directory of a benchmark that has ``results.json``; returns its path."""
    content = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    path = directory / "report.html"
    write_page(path, page("benchmark.html.j2", context=_context(content), filters={"rate": rate_text}))
    return path


def _context(content: Json) -> dict[str, Any]:
    found = disagreements(content)
    present = {each["name"]: each for each in content["scenarios"]}
    drawn: dict[str, list[str | None]] = {
        "Effectiveness": [figures.effect(content)],
        "Delay against throughput": [figures.trade_off(content)],
        "Convergence": [_over_time(content, "ramp-up")],
        "Responsiveness": [_over_time(content, "release"), _over_time(content, "arrival")],
        "Friendliness": [figures.friendliness(content)],
        "Fairness": [figures.sharing(content)],
    }
    return {
        "content": content,
        "modes": MODES,
        "lines": scorecard(content),
        "disagreements": found,
        "certain": sum(each["mark"] == "certain" for each in found),
        "agreement": figures.agreement(content),
        "chapters": [
            {
                "title": title,
                "figures": [each for each in drawn[title] if each],
                "scenarios": [(present[name], tables(content, name)) for name in names if name in present],
            }
            for title, names in _CHAPTERS
            if any(name in present for name in names)
        ],
    }


def _over_time(content: Json, scenario: str) -> str | None:
    names = [each["case"] for each in content["series"] if each["case"].split(" ")[0] == scenario]
    return figures.over_time(content, names[0]) if names else None
