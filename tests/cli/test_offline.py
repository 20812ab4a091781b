"""Commands that need no network of their own."""

import json
import re
from pathlib import Path

import pytest

from .conftest import ROOT, Command


def test_help_lists_every_command_and_each_has_help(longhaul: Command) -> None:
    text = longhaul("--help").stdout
    from longhaul.cli.main import COMMANDS

    for name in COMMANDS:
        assert re.search(rf"^  {name}\s", text, re.MULTILINE), name
        result = longhaul(name, "--help")
        assert result.returncode == 0
        assert len(result.stdout) > 100, f"{name} --help explains nothing"
        assert max(len(line) for line in result.stdout.splitlines()) <= 110


def test_no_arguments_show_help(longhaul: Command) -> None:
    result = longhaul()
    assert result.returncode == 2
    assert "Usage:" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu", "x.yaml"], 'there is no command "rnu"; did you mean "run"?'),
        (["run", "absent.yaml"], "absent.yaml"),
        (["run"], "SCENARIO"),
        (["check", "--set", "nonsense", "x.yaml"], "NAME=VALUE"),
        (["shell", "--delay", "5", "--", "true"], '"5" has no unit; write "5ms" or "5s"'),
        (["shell", "--loss", "120%", "--", "true"], "share lies between 0% and 100%"),
        (["shell", "--rate", "100Mbps", "--", "true"], 'write "100Mbit"'),
        (["shell", "--delya", "5ms", "--", "true"], "--delay"),
        (["sim", "--zzz", "x.yaml"], "No such option '--zzz'; see longhaul sim --help [E2504]"),
        (["sim"], "Missing argument 'SCENARIO'; see longhaul sim --help [E2502]"),
        (["new", "a", "b"], "unexpected extra argument (b); see longhaul new --help [E2503]"),
        (["down"], "nothing is up; start one with: longhaul up SCENARIO"),
        (["exec", "a", "--", "true"], "nothing is up"),
        (["status", "--name", "x"], "no run called x is up"),
        (["report", "nowhere"], "nowhere"),
        (["report", "."], "is not a run directory"),
    ],
)
def test_a_wrong_command_line_gives_one_line_and_exit_code_2(
    longhaul: Command, arguments: list[str], words: str
) -> None:
    result = longhaul(*arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 3
    assert "Traceback" not in result.stderr


def test_new_check_show_and_schema_work_together(longhaul: Command, work: Path) -> None:
    assert longhaul("new", "mine").returncode == 0
    assert longhaul("new", "mine").returncode == 2, "an existing file was overwritten"
    assert longhaul("check", "mine.yaml").stdout == (
        "mine.yaml: good (hosts: 8, links: 9)\n  expected par1 > nyc1: RTT 76.06 ms (38.03 ms each way)\n"
    )
    shown = json.loads(longhaul("show", "mine.yaml", "--from", "par1", "--to", "nyc1", "--json").stdout)
    (path,) = shown["paths"]
    assert path["one_way_ns"] == 38_030_000  # 15 us + 38 ms + 15 us
    assert path["round_trip_ns"] == 76_060_000
    assert json.loads(longhaul("schema").stdout)["title"] == "Longhaul scenario"
    assert list(work.iterdir()) == [work / "mine.yaml"]


def test_new_writes_a_topology_of_any_kind(longhaul: Command, work: Path) -> None:
    made = longhaul("new", "grid", "--topology", "torus", "--with", "size=[3, 3]", "--with", "hosts=2")
    assert made.returncode == 0, made.stderr
    assert longhaul("check", "grid.yaml").stdout.startswith("grid.yaml: good (hosts: 18, links: 36)\n")
    shown = longhaul("show", "grid.yaml", "--from", "r1-1-h1", "--to", "r3-3-h2", "--json")
    (path,) = json.loads(shown.stdout)["paths"]
    # One step along each dimension, since the ends meet.
    assert path["one_way_ns"] == 2 * 10_000_000 + 2 * 50_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--topology", "torsus"], '--topology: there is no topology "torsus"; did you mean "torus"?'),
        (["--topology", "fat-tree", "--with", "k=5"], "k must be even, not 5"),
        (["--topology", "ring", "--with", "hosts=-1"], "--with hosts: must be at least 1, not -1"),
        (
            ["--topology", "ring", "--with", "sites=4, hosts: 2"],
            '--with sites: "4, hosts: 2" is not one value',
        ),
        (["--topology", "ring, sites: ["], '--topology: "ring, sites: [" is not one value'),
        (["--with", "k=4"], "--with says how a topology is; add for example --topology dumbbell"),
        (["--topology", "ring", "--with", "sites"], "'sites' is not NAME=VALUE"),
    ],
)
def test_new_refuses_what_is_no_topology(
    longhaul: Command, work: Path, arguments: list[str], words: str
) -> None:
    result = longhaul("new", "mine", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert "topology:4:" not in result.stderr, "there is no file to look at"
    assert list(work.iterdir()) == []


def test_show_fits_80_columns(longhaul: Command) -> None:
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        result = longhaul("show", str(path))
        assert result.returncode == 0, result.stderr
        assert max(len(line) for line in result.stdout.splitlines()) <= 80


def test_check_reports_every_problem_as_json_too(longhaul: Command, work: Path) -> None:
    (work / "bad.yaml").write_text("version: 1\nname: t\nnodes: {a: {kind: hots}}\nlinks: {w: {delay: 5}}\n")
    result = longhaul("check", "bad.yaml", "--json")
    assert result.returncode == 2
    problems = (
        json.loads(result.stdout)[0]["problems"]
        if result.stdout.startswith("[")
        else json.loads(result.stdout)
    )
    assert problems


def test_doctor_says_what_works_and_how_to_make_it_better(longhaul: Command) -> None:
    result = longhaul("doctor")
    assert result.returncode in (0, 3)
    for subject in ("/dev/net/tun", "real-time", "congestion control"):
        assert subject in result.stdout
    findings = {each["what"]: each for each in json.loads(longhaul("doctor", "--json").stdout)}
    algorithms = findings["loadable algorithms"]
    all_six = "scalable, highspeed, htcp, bic, multcp, stochastic"
    assert algorithms["detail"].startswith(all_six) if algorithms["state"] == "good" else algorithms["fix"]
