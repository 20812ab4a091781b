"""The README's tour, command by command, as a reader would type it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from .conftest import ROOT, Command


def commands() -> list[list[str]]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh tour\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


def test_every_command_of_the_tour_works(longhaul: Command, started: Command, work: Path) -> None:
    tour = commands()
    assert len(tour) >= 10
    for name, *arguments in tour:
        assert name == "longhaul"
        result = started(*arguments, timeout=120)
        # A busy machine may be told that its run was not faithful; that is not this test's subject.
        allowed = (0, 4) if arguments[0] in ("run", "shell", "down") else (0,)
        assert result.returncode in allowed, f"{arguments}\n{result.stdout}\n{result.stderr}"
        assert result.stdout
    for kind, least in (("live", 50_000), ("sim", 50_000), ("sweep", 10_000)):
        reports = list((work / "runs/atlantic").glob(f"*-{kind}-*/report.html"))
        assert reports, kind
        assert all(report.stat().st_size > least for report in reports), kind


def test_the_python_of_the_guide_works(work: Path, environment: dict[str, str]) -> None:
    text = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (work / "scenarios").symlink_to(ROOT / "scenarios")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "3 packets transmitted, 3 received" in done.stdout
    assert "'down': 0" in done.stdout
