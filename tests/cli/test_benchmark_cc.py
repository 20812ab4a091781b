"""`longhaul benchmark-cc` as a user meets it: two controls, one scenario, simulated and live."""

import json
import re
import shlex
from pathlib import Path

import pytest
from machine import why_not_live

from .conftest import ROOT, Command

RATE = 100_000_000


def test_live_meets_simulated(longhaul: Command, work: Path) -> None:
    why_not = why_not_live()
    if why_not:
        pytest.skip(f"live runs do not work here: {why_not}")
    asked = "reno cubic --only data-centre --seeds 2 --repeat 1 --tries 1"
    done = longhaul("benchmark-cc", *asked.split(), timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 simulated and 2 live runs of 1 cases" in done.stderr
    assert "measures compared" in done.stdout
    (place,) = [each for each in (work / "runs/benchmark-cc").iterdir() if not each.is_symlink()]
    plain = json.loads((place / "results.json").read_text())
    values = {(each["control"], each["mode"], each["measure"]): each for each in plain["results"]}
    for control in ("reno", "cubic"):
        for mode, runs in (("sim", 2), ("live", 1)):
            mean = {name: values[control, mode, name]["mean"] for name in ("utilisation", "goodput", "jain")}
            assert values[control, mode, "utilisation"]["runs"] == runs
            assert mean["utilisation"] <= 1.02
            assert 1 / 9 <= mean["jain"] <= 1
            # What leaves the link arrives within 200 us, but for the payload's share of each packet.
            assert mean["goodput"] == pytest.approx(mean["utilisation"] * RATE * 1448 / 1500, rel=0.05)
            if mode == "sim" or not plain["disturbed"]:
                assert mean["utilisation"] > 0.9
        assert values[control, "sim", "queue_p99"]["mean"] <= 0.01 + 1e-6
    assert len(plain["compared"]) == 2 * 7
    assert plain["disagreements"] == done.stdout.count("\n  ! ") + done.stdout.count("\n  ? ")
    report = place / "report.html"
    assert 30_000 < report.stat().st_size < 2_000_000
    assert not (place / "runs").exists() or not list((place / "runs").iterdir())


@pytest.mark.parametrize("suite", ["benchmark-cc", "benchmark-aqm"])
def test_the_commands_of_the_guide_are_ones_that_there_are(longhaul: Command, suite: str) -> None:
    text = (ROOT / f"docs/how-to/{suite}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]
    assert len(lines) >= 4
    for name, command, *arguments in lines:
        assert (name, command) == ("longhaul", suite)
        done = longhaul(command, *arguments, "--dry-run")
        assert done.returncode == 0, f"{arguments}\n{done.stderr}"
        assert "runs of" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cubik", "--sim"), 'unknown congestion-control algorithm "cubik"'),
        (("reno", "--sim", "--most", "100"), '"100" has no unit'),
        (("reno", "--sim", "--only", "moon"), 'there is no scenario "moon"'),
    ],
)
def test_what_is_wrong_is_one_line(longhaul: Command, arguments: tuple[str, ...], words: str) -> None:
    done = longhaul("benchmark-cc", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_scale_of_the_draft_is_refused_for_live_runs(longhaul: Command, work: Path) -> None:
    done = longhaul("benchmark-cc", "reno", "--paper", "--live")
    assert done.returncode == 2
    assert "the draft's scale is simulated only; leave out --live or --paper" in " ".join(done.stderr.split())
    assert list(work.iterdir()) == []
