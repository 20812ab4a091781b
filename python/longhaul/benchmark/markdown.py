"""The results of a benchmark as Markdown, for the appendix of a paper."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from longhaul.benchmark.page import read_results
from longhaul.benchmark.rows import MODES, scorecard, tables
from longhaul.benchmark.suite import Suite
from longhaul.report.markdown import escaped, facts_table, markdown, write_parts
from longhaul.report.tables import Row, Table, numbers, words

Json = Mapping[str, Any]


def write_benchmark(directory: Path) -> Path:
    """Write ``report.md`` of the benchmark in ``directory``, which has results; returns its path."""
    return write_parts(directory, _parts(*read_results(directory)))


def _parts(suite: Suite, content: Json) -> Iterator[str]:
    subjects = list(content["subjects"])
    modes = [mode for mode in MODES if mode in content["modes"]]
    yield f"# {escaped(', '.join(subjects))}"
    host = content["host"]
    yield facts_table(
        {
            "benchmark": suite.words.source,
            "runs of each case": ", ".join(
                f"{count} {word}"
                for count, word in ((content["live_runs"], "live"), (content["simulated_runs"], "simulated"))
                if count
            ),
            "errors": "; ".join(content["errors"]),
            "machine": f"{host['cpu_model']}, {host['cpus']} CPU cores, Linux {host['kernel']}",
            "Longhaul": content["version"],
            "started": content["started"],
            "seed": str(content["seed"]),
        }
    )
    rows = [
        Row(
            [
                line.title,
                line.place,
                MODES[mode],
                *(line.cells[key].text if (key := (each, mode)) in line.cells else "-" for each in subjects),
            ]
        )
        for line in scorecard(suite.scorecard, content)
        for mode in modes
    ]
    yield "## Measures"
    yield markdown(Table([*words("measure", "scenario", "mode"), *numbers(*subjects)], rows))
    for scenario in content["scenarios"]:
        found = tables(content, scenario["name"])
        if found:
            yield f"## {escaped(scenario['title'])}"
        for table in found:
            lines = [
                Row([subject, mode, *(each.text for each in cells)]) for subject, mode, cells in table.rows
            ]
            if table.title:
                yield f"### {escaped(table.title)}"
            yield markdown(Table([*words(suite.words.subject, "mode"), *numbers(*table.columns)], lines))
