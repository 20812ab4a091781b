"""The manual page and completion, as a shell asks for them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from longhaul.cli.main import COMMANDS, longhaul

BIN = Path(sys.executable).parent


def printed(*argv: str) -> str:
    result = CliRunner().invoke(longhaul, argv, prog_name="longhaul")
    assert result.exit_code == 0, result.output
    return result.output


def completed(*words: str) -> list[str]:
    """What bash would offer for the last of ``words``."""
    environment = os.environ | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_LONGHAUL_COMPLETE": "bash_complete",
    }
    run = subprocess.run(["longhaul"], env=environment, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return [line.partition(",")[2] for line in run.stdout.split()]


def test_the_manual_has_every_command_and_its_options() -> None:
    page = printed("manual")
    for name in COMMANDS:
        written = name.replace("-", r"\-")
        assert f".SS longhaul {written}\n" in page
    assert ".SS longhaul trace collect\n" in page
    assert r"\fB\-\-watch\fR" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_is_set_without_a_warning() -> None:
    argv = ["groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-rLL=78n"]
    run = subprocess.run(argv, input=printed("manual"), capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert "longhaul run scenarios/three-clusters.yaml --watch" in run.stdout


def test_commands_their_parts_and_options_are_completed() -> None:
    assert completed("longhaul", "tr") == ["trace", "transfer"]
    assert completed("longhaul", "trace", "co") == ["collect", "convert"]
    assert completed("longhaul", "run", "--wa") == ["--watch"]
    assert completed("longhaul", "nonsense", "x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script_that_they_read(shell: str) -> None:
    script = printed("completion", shell)
    assert "_LONGHAUL_COMPLETE" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
