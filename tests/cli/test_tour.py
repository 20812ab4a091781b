"""The README's tour and the tutorial, command by command, as a reader would type them."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .conftest import ROOT, Command

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\"| tour)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh tour\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


def allowed(arguments: list[str]) -> tuple[int, ...]:
    """Exit codes of a command; a busy machine may be told that its run was not faithful."""
    return (0, 4) if arguments[0] in ("run", "shell", "down") else (0,)


def test_every_command_of_the_tour_works(longhaul: Command, started: Command, work: Path) -> None:
    tour = commands()
    assert len(tour) == 5
    for name, *arguments in tour:
        assert name == "longhaul"
        result = started(*arguments, timeout=120)
        assert result.returncode in allowed(arguments), f"{arguments}\n{result.stdout}\n{result.stderr}"
        assert result.stdout
    for kind, least in (("live", 50_000), ("sim", 50_000), ("sweep", 10_000)):
        reports = list((work / "runs/atlantic").glob(f"*-{kind}-*/report.html"))
        assert reports, kind
        assert all(report.stat().st_size > least for report in reports), kind


def pages() -> Iterator[Path]:
    """The pages of the tutorial in the order in which they are read."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    (tutorial,) = (entry["Tutorial"] for entry in project["nav"] if "Tutorial" in entry)
    for entry in tutorial:
        yield from (ROOT / "docs" / name for name in entry.values())


def test_the_tutorial_works(
    longhaul: Command, started: Command, work: Path, environment: dict[str, str]
) -> None:
    """Files are written, commands run, and untitled output is that of the commands before it."""
    for page in pages():
        printed: set[str] = set()
        for kind, title, content in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind == "yaml":
                (work / title).write_text(content, encoding="utf-8")
            elif kind == "python":
                done = subprocess.run(
                    [sys.executable, "-c", content],
                    cwd=work,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, f"{page.name}: {done.stderr}"
                printed = words(done.stdout)
            elif kind == "sh":
                printed = set()
                for line in content.splitlines():
                    name, *arguments = shlex.split(line)
                    assert name == "longhaul"
                    result = started(*arguments, timeout=120)
                    code = re.fullmatch(r"exit code (\d+)", title)
                    good = (int(code[1]),) if code else allowed(arguments)
                    assert result.returncode in good, f"{line}\n{result.stdout}\n{result.stderr}"
                    printed |= words(result.stdout + result.stderr)
            elif kind == "text" and not title:
                missing = words(content) - printed
                assert not missing, f"{page.name} shows lines that the commands do not print: {missing}"


def words(text: str) -> set[str]:
    """The lines of a text, with their words one space apart."""
    return {" ".join(line.split()) for line in text.splitlines()}


def test_the_python_of_the_guide_works(work: Path, environment: dict[str, str]) -> None:
    text = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (work / "scenarios").symlink_to(ROOT / "scenarios")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "3 packets transmitted, 3 received" in done.stdout
    assert "'down': 0" in done.stdout
