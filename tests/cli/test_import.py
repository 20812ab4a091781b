"""`longhaul import`, from a file to a run."""

import json
from pathlib import Path

import pytest
from topologies.files import EQUATOR, NATIVE

from .conftest import Command


def test_what_is_imported_checks_simulates_and_runs(longhaul: Command, work: Path) -> None:
    (work / "small.graphml").write_text(EQUATOR, encoding="utf-8")
    result = longhaul("import", "small.graphml", "--rate", "1Gbit", "--out", "small.yaml")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "wrote small.yaml; next: longhaul check small.yaml\n"
    assert longhaul("check", "small.yaml").stdout == (
        "small.yaml: good (hosts: 4, links: 7)\n"
        "  expected null-island-h1 > sao-paulo-2-h1: RTT 44.27 ms (22.14 ms each way)\n"
    )
    simulated = longhaul("sim", "small.yaml", "--json")
    assert simulated.returncode == 0, simulated.stdout + simulated.stderr
    path = work / "small.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("duration: 10s", "duration: 2s"))
    live = longhaul("run", "small.yaml")
    assert live.returncode in (0, 4), live.stdout + live.stderr


def test_demands_are_simulated_at_their_rate(longhaul: Command, work: Path) -> None:
    (work / "trio.txt").write_text(NATIVE, encoding="utf-8")
    made = longhaul("import", "trio.txt", "--demands", "0.1", "--out", "trio.yaml")
    assert made.returncode == 0
    assert "warning: the file does not say the unit of its numbers" in made.stderr
    told = json.loads(longhaul("sim", "trio.yaml", "--json").stdout)
    (flow,) = (each for each in told["flows"] if each["name"].startswith("demand-1"))
    assert flow["goodput_bits_per_s"] == pytest.approx(5e6, rel=0.01)


def test_teragrid_carries_what_one_loss_in_16_s_lets_reno_carry(longhaul: Command) -> None:
    assert longhaul("import", "teragrid", "--out", "t.yaml").returncode == 0
    told = json.loads(longhaul("sim", "t.yaml", "--json", "--no-report", timeout=300).stdout)
    goodput = told["flows"][0]["goodput_bits_per_s"]
    # Each loss halves the window, and each round trip of 65.2 ms adds a packet: g in a gap, so that a gap
    # begins with E[g] on average and adds g/2. Over time that is E[g] (1 + E[g^2] / (2 E[g]^2)); gaps have a
    # coefficient of variation of 0.375. Some 62 losses in 1000 s: 15 % is three standard deviations.
    gap, round_trip = 18 * 0.8917, 65.2e-3
    mean_window = gap / round_trip * (1 + (1 + 0.3747**2) / 2)
    assert goodput == pytest.approx(mean_window * 8948 * 8 / round_trip, rel=0.15)


def test_without_a_file_to_write_it_is_printed(longhaul: Command, work: Path) -> None:
    result = longhaul("import", "teragrid", "--cross", "literal")
    assert result.stdout.startswith("# TeraGrid in 2007")
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["teragird"], 'there is no file "teragird", and built in is teragrid; did you mean "teragrid"?'),
        (
            ["teragrid", "--out", "here.yaml"],
            "here.yaml already exists; choose another name, or add --force",
        ),
        (
            ["teragrid", "--out", "no/x.yaml"],
            "cannot write no/x.yaml: no such file or directory; name a file in",
        ),
        (["teragrid", "--duration", "10"], '"10" has no unit; write "10ms" or "10s"'),
        (["here.yaml", "--rate", "1Gbps"], 'write "1Gbit"'),
        (["teragrid", "--host-rate", "1Gbit"], "--host-rate does not apply to the built-in teragrid"),
        (["."], "is a directory; name a file that can be read"),
    ],
)
def test_wrong_arguments_get_one_line(
    longhaul: Command, work: Path, arguments: list[str], words: str
) -> None:
    (work / "here.yaml").write_text("version: 1\n")
    result = longhaul("import", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
