"""The study of the guide is complete: it runs as the page says, and has the results that the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import study_of_the_guide


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The files of the page."""
    study_of_the_guide.write_files(tmp_path)
    return tmp_path


def longhaul(place: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "longhaul.cli.main", *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_guide_runs_as_it_is_written(files: Path) -> None:
    blocks = study_of_the_guide.blocks()
    listed = {path.name for path in (files / "my-studies/queue_delay").iterdir()}
    (tree,) = (text for language, _title, text in blocks if language == "text" and "queue_delay.py" in text)
    assert listed == set(re.findall(r"\S+\.\w+", tree))
    (commands,) = (text for language, _title, text in blocks if language == "sh")
    outputs = [longhaul(files, *line.split()[1:]) for line in commands.splitlines()]
    (shown,) = (text for _language, _title, text in blocks if "3 claims" in text)
    date = r"\d{4}-\d\d-\d\d"
    assert re.sub(date, "", outputs[-1]) == re.sub(date, "", shown)
    assert (files / "my-studies/queue_delay/results/simulated.csv").is_file()
    # Its own directory is named in the commands that it shows.
    printed = longhaul(files, "study", "show", "queue-delay", "--directory", "my-studies")
    assert "longhaul study run queue-delay --only live --directory my-studies" in printed


def test_the_live_part_of_the_guide_runs(files: Path, live_machine: None) -> None:
    options = ["--only", "live", "--small", "--rounds", "1", "--directory", "my-studies"]
    said = longhaul(files, "study", "run", "queue-delay", *options)
    assert "== part 1 of 1: live (live)" in said
    assert "A live transfer keeps the queue at least half full" in said
