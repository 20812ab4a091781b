"""``longhaul transfer run`` for tests: two sites, and the results."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from longhaul.cli.main import longhaul

ROOT = Path(__file__).parents[1]
SCENARIO = str(ROOT / "scenarios/transfers/two-sites.yaml")
SMALL = """
version: 1
requests:
  r1: {from: src1, to: sink1, volume: 10MB, deadline: 60s, max_rate: 20Mbit}
  r2: {from: src2, to: sink2, volume: 10MB, deadline: 60s, max_rate: 20Mbit}
"""


def carried(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the summary."""
    runs = ["--runs", str(folder), "--no-report", "--json"]
    result = CliRunner().invoke(longhaul, ["transfer", "run", *arguments, *runs])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)
