"""The report of a benchmark: one self-contained HTML file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.benchmark import charts, writing
from longhaul.benchmark.rows import MODES, disagreements, scorecard, tables
from longhaul.benchmark.suite import Chapter, Suite
from longhaul.benchmark.suites import suite_named
from longhaul.report.chart import Chart
from longhaul.report.chart_json import embedded
from longhaul.report.page import page, write_page
from longhaul.units.text import rate_text

Json = Mapping[str, Any]


def read_results(directory: Path) -> tuple[Suite, Json]:
    """The suite and the results of a benchmark that has ``results.json``."""
    written = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    suite = suite_named(written.get("suite"))
    return suite, writing.read(suite, written)


def charts_of(directory: Path) -> list[Chart]:
    """The charts of the report of a benchmark."""
    suite, content = read_results(directory)
    agreement = charts.agreement(content)
    chapters = [each for chapter in shown_chapters(suite, content) for each in chapter.draw(content) if each]
    return [*([agreement] if agreement else []), *chapters]


def shown_chapters(suite: Suite, content: Json) -> list[Chapter]:
    """Those of which some scenario was run."""
    present = {each["name"] for each in content["scenarios"]}
    return [chapter for chapter in suite.chapters if present & set(chapter.scenarios)]


def write_benchmark_report(directory: Path) -> Path:
    """Write ``report.html`` into the directory of a benchmark that has ``results.json``; returns its path."""
    context = _context(*read_results(directory))
    path = directory / "report.html"
    write_page(path, page("benchmark.html.j2", context=context, filters={"rate": rate_text}))
    return path


def _context(suite: Suite, content: Json) -> dict[str, Any]:
    found = disagreements(content)
    agreement = charts.agreement(content)
    present = {each["name"]: each for each in content["scenarios"]}
    return {
        "content": content,
        "words": suite.words,
        "modes": MODES,
        "lines": scorecard(suite.scorecard, content),
        "disagreements": found,
        "certain": sum(each["mark"] == "certain" for each in found),
        "agreement": embedded(agreement) if agreement else None,
        "chapters": [
            {
                "title": chapter.title,
                "caption": chapter.caption,
                "charts": [embedded(each) for each in chapter.draw(content) if each],
                "scenarios": [
                    (present[name], tables(content, name))
                    for name in chapter.scenarios
                    if chapter.tables and name in present
                ],
            }
            for chapter in shown_chapters(suite, content)
        ],
    }
