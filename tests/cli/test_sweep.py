"""`longhaul sweep` from the command line: what is printed, and what survives."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from longhaul.sweeps.place import place_of

from .conftest import ROOT, Command

SCENARIO = """
version: 1
name: pair
duration: 4s
params: {cc: cubic, loss: 0%}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 100Mbit, loss: $loss}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}}
"""
AXES = ("--axis", "cc=cubic,reno", "--axis", "loss=0%,0.1%,1%")


@pytest.fixture(autouse=True)
def scenario(work: Path) -> Path:
    path = work / "pair.yaml"
    path.write_text(SCENARIO)
    return path


def rows(directory: Path) -> list[dict]:
    found = pq.read_table(directory / "parts").to_pylist()
    return sorted(found, key=lambda row: (row["variant"], row["repeat"], row["item"]))


def test_a_sweep_prints_a_table_within_80_columns_and_leaves_its_files(longhaul: Command, work: Path) -> None:
    result = longhaul("sweep", "pair.yaml", *AXES, "--repeat", "2", "--metric", "goodput")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "pair: 6 variants, 12 runs"
    assert max(map(len, lines)) <= 80
    assert re.search(r"^cubic +0 +9\d(\.\d)? Mbit/s +deterministic, n = 1$", result.stdout, re.MULTILINE)
    directory = work / "runs/pair/latest"
    assert (directory / "scenario.yaml").read_text() == SCENARIO
    assert json.loads((directory / "sweep.json").read_text())["status"] == "done"
    for file in ("summary.json", "summary.parquet"):
        assert (directory / file).is_file()
    report = (directory / "report.html").read_text()
    assert "flows.bulk.goodput over loss" in report
    assert "http" not in report.replace("http://www.w3.org/", "")


def test_the_summary_is_json_too(longhaul: Command) -> None:
    found = json.loads(
        longhaul("sweep", "pair.yaml", *AXES, "--metric", "goodput", "--json", "--no-report").stdout
    )
    assert (found["variants"], found["points"], found["failed"]) == (6, 6, 0)
    assert {row["axis_loss_share"] for row in found["metrics"]} == {0.0, 0.001, 0.01}
    assert {row["unit"] for row in found["metrics"]} == {"bit/s"}


def test_a_dry_run_counts_and_costs_and_leaves_nothing(longhaul: Command, work: Path) -> None:
    result = longhaul("sweep", "pair.yaml", *AXES, "--repeat", "50", "--dry-run")
    assert result.returncode == 0
    assert "6 variants x 50 seeds = 300 runs" in result.stdout
    found = json.loads(longhaul("sweep", "pair.yaml", *AXES, "--repeat", "50", "--dry-run", "--json").stdout)
    assert found["points"] == 300
    assert found["core_s"] == pytest.approx(300 * found["point_s"])
    assert found["shards"] * found["shard_points"] >= 300
    assert not (work / "runs").exists()


def start(work: Path, environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "longhaul.cli.main", "sweep", *arguments],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def some_parts(work: Path, process: "subprocess.Popen[str]", *, least: int) -> Path:
    for _ in range(600):
        if len(list(work.glob("runs/pair/latest/parts/*.parquet"))) >= least:
            return (work / "runs/pair/latest").resolve()
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("no parts within 12 s")


def test_a_sweep_that_was_killed_goes_on_and_neither_loses_nor_repeats_anything(
    longhaul: Command, work: Path, environment: dict[str, str]
) -> None:
    process = start(work, environment, "pair.yaml", *AXES, "--repeat", "30", "--workers", "2", "--no-report")
    directory = some_parts(work, process, least=3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {path.name: path.stat().st_mtime_ns for path in (directory / "parts").glob("*.parquet")}
    result = longhaul("sweep", "--resume", str(directory), "--no-report")
    assert result.returncode == 0, result.stderr
    after = {path.name: path.stat().st_mtime_ns for path in (directory / "parts").glob("*.parquet")}
    assert len(before) < len(after)
    assert before.items() <= after.items()
    points = [(row["variant"], row["repeat"]) for row in rows(directory) if row["item"] == "flows.bulk"]
    assert points == [(variant, repeat) for variant in range(6) for repeat in range(30)]
    whole = longhaul("sweep", "pair.yaml", *AXES, "--repeat", "30", "--runs", "again", "--no-report")
    assert whole.returncode == 0
    assert rows(work / "again/pair/latest") == rows(directory)


def test_ctrl_c_keeps_what_there_is_and_says_how_to_go_on(work: Path, environment: dict[str, str]) -> None:
    process = start(
        work, environment, "pair.yaml", *AXES, "--repeat", "2000", "--workers", "2", "--no-report"
    )
    directory = some_parts(work, process, least=1)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, out
    assert f"longhaul sweep --resume {Path('runs/pair') / directory.name}" in out
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["status"] == "interrupted"
    assert 0 < summary["points"] < 12_000


def test_a_algorithm_that_there_is_not_is_refused_before_anything_runs(longhaul: Command, work: Path) -> None:
    result = longhaul("sweep", "pair.yaml", "--axis", "cc=cubic,qubic", "--axis", "loss=1%,200%")
    assert result.returncode == 2
    assert "traffic.bulk.cc: there is no congestion control" in result.stderr
    assert "links.wan.loss: $loss: " in result.stderr
    assert not (work / "runs").exists()


def test_scripts_for_arrays_of_jobs_are_written_and_their_command_works(
    longhaul: Command, work: Path, environment: dict[str, str]
) -> None:
    result = longhaul("sweep", "pair.yaml", *AXES, "--array", "2")
    assert result.returncode == 0, result.stderr
    directory = (work / "runs/pair/latest").resolve()
    assert f"sbatch {directory}/sweep.sbatch" in result.stdout
    for number in ("0", "1"):
        subprocess.run(
            ["sh", str(directory / "sweep.sbatch")],
            env={**environment, "SLURM_ARRAY_TASK_ID": number},
            check=True,
            capture_output=True,
        )
    before = sorted(path.name for path in (directory / "parts").iterdir())
    assert longhaul("sweep", "--resume", str(directory), "--no-report").returncode == 0
    assert sorted(path.name for path in (directory / "parts").iterdir()) == before
    assert len(rows(directory)) == 6 * 3


def test_the_report_of_a_sweep_is_written_again_from_its_parts(longhaul: Command, work: Path) -> None:
    longhaul("sweep", "pair.yaml", *AXES)
    directory = work / "runs/pair/latest"
    files = [directory / name for name in ("report.html", "summary.json", "summary.parquet", "sweep.json")]
    before = [file.read_bytes() for file in files]
    for file in files[:3]:
        file.unlink()
    result = longhaul("report", "runs/pair/latest")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.strip() == str(directory.resolve() / "report.html")
    assert [file.read_bytes() for file in files] == before


def test_the_condor_script_is_one_that_condor_reads(longhaul: Command, work: Path) -> None:
    htcondor = pytest.importorskip("htcondor2", reason="the HTCondor bindings are not installed")
    longhaul("sweep", "pair.yaml", *AXES, "--array", "20")
    directory = (work / "runs/pair/latest").resolve()
    submit = htcondor.Submit((directory / "sweep.sub").read_text())
    assert submit.getQArgs() == "20"
    assert f"'--resume' '{directory}' --share $(Process)/20" in submit["arguments"]
    assert submit["universe"] == "vanilla"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a scenario, or a sweep to resume; longhaul sweep SCENARIO"),
        (["pair.yaml"], "pair.yaml has no sweep; add for example --axis cc=cubic,bbr"),
        (["pair.yaml", "--axis", "cc"], "write for example cc=cubic,bbr"),
        (["pair.yaml", *AXES, "--axis", "cc=bbr"], "'cc' is given twice; write cc=cubic,reno,bbr"),
        (["pair.yaml", *AXES, "--set", "cc=bbr"], "--set gives cc one value; leave one of them out"),
        (["pair.yaml", *AXES, "--repeat", "0"], "sweep.repeat: must be at least 1, not 0"),
        (["pair.yaml", *AXES, "--share", "0/2"], "--share requires --resume"),
        (["pair.yaml", *AXES, "--cluster", "slurn"], 'did you mean "slurm"?'),
        (["--resume", "."], "is not a sweep: it has no sweep.json"),
        (["--resume", ".", "--repeat", "3"], "a resumed sweep keeps its options"),
    ],
)
def test_a_wrong_command_line_is_told_what_to_write(
    longhaul: Command, work: Path, arguments: list[str], words: str
) -> None:
    result = longhaul("sweep", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert not (work / "runs").exists()


ALL_IN_ONE = """
import json, sys
from longhaul.cli.main import longhaul
for arguments in json.load(sys.stdin):
    sys.argv = ["longhaul", *arguments]
    try:
        longhaul.main(arguments, standalone_mode=False)
    except SystemExit as ended:
        assert ended.code == 0, arguments
"""
"""Runs commands in one process, as starting each anew takes longer than most of them."""


def test_the_guide_works(work: Path, environment: dict[str, str]) -> None:
    text = (ROOT / "docs/how-to/sweeps.md").read_text(encoding="utf-8")
    (work / "scenarios").symlink_to(ROOT / "scenarios")
    commands = [
        shlex.split(line)
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(commands) >= 7
    assert {name for name, *_arguments in commands} == {"longhaul"}
    done = subprocess.run(
        [sys.executable, "-c", ALL_IN_ONE],
        input=json.dumps([arguments for _name, *arguments in commands]),
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 6
    path = work / "cluster.yaml"
    path.write_text(re.findall(r"^```yaml\n(kind: .*?)^```", text, re.MULTILINE | re.DOTALL)[0])
    assert place_of(str(path)).jobs == 8


def test_what_a_topology_makes_can_vary(longhaul: Command, work: Path) -> None:
    (work / "made.yaml").write_text(
        "version: 1\nname: made\nduration: 1s\n"
        "topology: {kind: dumbbell, left: 1, right: 1, wan: {delay: 5ms, rate: 10Mbit}}\n"
        "traffic: {bulk: {kind: tcp, from: left1, to: right1}}\n"
    )
    axis = ("--axis", "links.bottleneck.rate=5Mbit,10Mbit")
    result = longhaul("sweep", "made.yaml", *axis, "--metric", "goodput", "--json")
    assert result.returncode == 0, result.stdout
    slow, fast = (each["mean"] for each in json.loads(result.stdout)["metrics"])
    # Headers take 52 of 1500 bytes.
    assert slow <= 5e6 * 1448 / 1500 < fast <= 10e6 * 1448 / 1500
