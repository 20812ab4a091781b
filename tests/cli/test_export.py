"""`longhaul export`, from a scenario to files."""

from pathlib import Path

from .conftest import ROOT, Command

SCENARIO = str(ROOT / "scenarios" / "two-clusters.yaml")


def test_scripts_are_written_and_can_be_executed(longhaul: Command, work: Path) -> None:
    result = longhaul("export", "shell", SCENARIO, "--out", "scripts")
    assert result.returncode == 0, result.stderr
    # 2 routers and 8 hosts, and the names.
    assert result.stdout == "wrote 11 files into scripts\n"
    assert "traffic: is not part of the scripts" in result.stderr
    assert (work / "scripts" / "east.sh").stat().st_mode & 0o111
    assert "10.2.0.4\twest4\n" in (work / "scripts" / "hosts").read_text()


def test_without_a_folder_they_are_printed(longhaul: Command, work: Path) -> None:
    result = longhaul("export", "tc", SCENARIO, "--set", "loss=1%")
    assert "# ocean, forward: from east to west\n" in result.stdout
    # r = 1 / 2 and p = 0.01 / 2 / 0.99.
    assert "loss gemodel 0.505050505% 50%" in result.stdout
    assert list(work.iterdir()) == []


def test_hosts_that_pace_are_not_forgotten_in_silence(longhaul: Command, work: Path) -> None:
    (work / "paced.yaml").write_text(
        "version: 1\nname: paced\nnodes:\n"
        "  a: {kind: host, pacing: {classes: {slow: {rate: 1Mbit, to: b}}}}\n  b: {kind: host}\n"
        "links: {ab: {endpoints: [a, b], rate: 10Mbit, delay: 1ms}}\n"
    )
    result = longhaul("export", "tc", "paced.yaml")
    assert result.returncode == 0
    assert "paced.yaml:4:19: nodes.a.pacing: is not part of the scripts" in result.stderr


def test_what_tc_cannot_express_ends_with_2(longhaul: Command) -> None:
    result = longhaul("export", "tc", str(ROOT / "scenarios" / "parallel-routes.yaml"))
    assert result.returncode == 2
    assert "tc has no parallel routes; write one model, or run the scenario here" in result.stderr
    assert result.stdout == ""


def test_a_folder_that_cannot_be_is_one_line(longhaul: Command, work: Path) -> None:
    (work / "there").write_text("")
    result = longhaul("export", "shell", SCENARIO, "--out", "there/x")
    assert result.returncode == 2
    assert "cannot write into there/x: not a directory; name another folder with --out" in result.stderr
