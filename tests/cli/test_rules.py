"""The rules of the guide to congestion control, compared with the algorithms that they are."""

import json
import re
import shlex
from pathlib import Path

import pytest

from .conftest import ROOT, Command

SECTION = (ROOT / "docs/how-to/congestion-control.md").read_text("utf-8").partition("# A rule in YAML\n")[2]
RULES = re.findall(r'```yaml title="rules.yaml"\n(.*?)```', SECTION, re.DOTALL)[0]
COMMANDS = [shlex.split(line) for line in re.findall(r"^\$ longhaul (.*)", SECTION, re.MULTILINE)]
BUILT_IN = {
    "aimd": "reno",
    "mimd": "{algorithm: scalable, reno_friendly: false}",
    "cubic": "{algorithm: cubic, reno_friendly: false, fast_convergence: false}",
}


def goodputs(run: Path) -> dict[str, float]:
    flows = json.loads((run / "summary.json").read_text())["flows"]
    return {flow["name"]: flow["goodput_bits_per_s"] for flow in flows}


def test_the_rules_of_the_guide_have_the_goodput_of_the_algorithms_that_they_are(
    longhaul: Command, work: Path
) -> None:
    (work / "rules.yaml").write_text(RULES)
    result = longhaul(*COMMANDS[0], "--no-report")
    assert result.returncode == 0, result.stderr
    ours = goodputs(work / "runs/rules/latest-sim")
    head = RULES.partition("traffic:\n")[0].replace("name: rules", "name: built-in")
    traffic = "".join(
        f"  {name}: {{kind: tcp, from: {source}, to: sink, cc: {cc}}}\n"
        for source, (name, cc) in zip("abc", BUILT_IN.items(), strict=True)
    )
    (work / "built-in.yaml").write_text(f"{head}traffic:\n{traffic}")
    assert longhaul("sim", "built-in.yaml", "--no-report").returncode == 0
    theirs = goodputs(work / "runs/built-in/latest-sim")
    # A rule of cwnd / 2 halves the window with its fraction, Reno whole segments in flight.
    assert ours["aimd"] == pytest.approx(theirs["aimd"], rel=0.01)
    assert ours["mimd"] == theirs["mimd"]
    # The rule's time counts from the loss, not from the end of the recovery.
    assert ours["cubic"] == pytest.approx(theirs["cubic"], rel=0.03)


def test_a_formula_is_an_axis_of_a_sweep(longhaul: Command, work: Path) -> None:
    (work / "rules.yaml").write_text(RULES)
    result = longhaul(*COMMANDS[1])
    assert result.returncode == 0, result.stderr
    assert "0.5 / cwnd" in result.stdout
