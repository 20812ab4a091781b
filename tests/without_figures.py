"""Sweeps without a report, whose figures take longer than their runs, and what they leave."""

from functools import partial
from pathlib import Path

import longhaul

sweep = partial(longhaul.sweep, report=False)
resume = partial(longhaul.resume, report=False)


def part_files(directory: Path) -> dict[str, bytes]:
    """The parts of a sweep by name."""
    return {path.name: path.read_bytes() for path in sorted((directory / "parts").iterdir())}
