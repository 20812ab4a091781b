"""``longhaul-workload record``: a file that a simulation plays, or one error message and no file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import longhaul

SCENARIO = """
version: 1
name: recorded
addresses: ipv4
topology: {kind: clusters, clusters: 2, hosts: 2}
programs: {app: {simulate: {kind: recorded, file: app.csv}, hosts: [c1-h1, c1-h2, c2-h1, c2-h2]}}
"""


def record(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longhaul.workloads", "record", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", ["ep", "is", "cg", "mg", "ft", "molecules"])
def test_what_is_recorded_runs_and_takes_at_least_its_computing(name: str, tmp_path: Path) -> None:
    ended = record(name, str(tmp_path / "app.csv"), "--ranks", "4", "--compute", "8s")
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "app.yaml").write_text(SCENARIO)
    result = longhaul.run_sim(tmp_path / "app.yaml", runs=tmp_path / "runs", report=False)
    took_s = result.summary["programs"][0]["wall_ns"] / 1e9
    # A quarter of eight seconds on each rank; totals of CG are estimated before equal places are added up.
    assert 1.8 < took_s < 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ranks", "3"), "3 ranks are not a power of two; write 2, 4, 8 ..."),
        (("--ranks", "512"), "this class of FT is for 64 ranks at most, not 512; take fewer ranks"),
        (("--ranks", "4", "--class", "Z"), "'Z' is not one of"),
        (("--ranks", "4", "--compute", "3"), '"3" is not a time; write "3.2s" or "500ms"'),
    ],
)
def test_a_wrong_call_leaves_no_file(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ended = record("ft", str(tmp_path / "ft.csv"), *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    ended = record("ft", str(tmp_path / "nowhere/ft.csv"), "--ranks", "4")
    assert ended.returncode == 2
    expected = f"longhaul-workload: {tmp_path}/nowhere/ft.csv: no such file or directory; name a file"
    assert ended.stderr.startswith(expected)
