"""Commands of the how-to guides, executed as a reader would type them."""

import re
import subprocess
import sys
from pathlib import Path

_HOW_TO = Path(__file__).parents[1] / "docs/how-to"


def run_commands(guide: str, scenario: str, folder: Path) -> str:
    """Write ``scenario``.yaml of a guide into ``folder`` and run the commands below it; returns their output.

    The guide shows the scenario without its version and name.
    """
    page = (_HOW_TO / guide).read_text(encoding="utf-8")
    block = rf'^```yaml title="{scenario}.yaml"\n(.*?)^```\n\n```sh\n(.*?)^```'
    [(text, commands)] = re.findall(block, page, re.MULTILINE | re.DOTALL)
    (folder / f"{scenario}.yaml").write_text(f"version: 1\nname: {scenario}\n{text}", encoding="utf-8")
    commands = re.sub(r"^longhaul", f"{sys.executable} -m longhaul.cli.main", commands, flags=re.MULTILINE)
    done = subprocess.run(["bash", "-ec", commands], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
