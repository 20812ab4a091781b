"""MPI over the hosts of a run: found, placed, and on the network with every byte."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mpi_installations import HINT, INSTALLATIONS, MPICH

import longhaul
from longhaul.calibrate import mpi
from longhaul.calibrate.probe import measure

SCENARIO = Path(__file__).parents[2] / "scenarios/mpi.yaml"
HEADERS = 52


@pytest.fixture(params=INSTALLATIONS)
def mpirun(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Makes ``mpirun`` and mpi4py one MPI's."""
    name: str = request.param
    launcher, library = found = INSTALLATIONS[name]
    if not found.exists:
        pytest.skip(HINT)
    script = tmp_path / "bin/mpirun"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {launcher} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("MPI4PY_LIBMPI", str(library))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return name


def said(result: longhaul.Result, program: str) -> str:
    return (result.directory / f"logs/{program}.out").read_text()


def test_eight_ranks_meet_over_two_clusters_and_the_link_carries_every_byte(
    mpirun: str, tmp_path: Path
) -> None:
    text = SCENARIO.read_text()
    near = tmp_path / "near.yaml"
    near.write_text(text.replace("delay: 5ms,", "delay: 0ms,"))
    best_ms: dict[Path, list[float]] = {SCENARIO: [], near: []}
    for _ in range(2):  # Other work of the machine only ever adds to a minimum.
        for scenario, found_ms in best_ms.items():
            result = longhaul.run_live(scenario, runs=tmp_path / "runs", report=False)
            found = json.loads(said(result, "ping-pong"))
            found_ms.append(found["best_ms"])
            assert found["hosts"] == [f"{side}{n}" for side in ("east", "west") for n in range(1, 5)]
            for way in ("forward", "reverse"):
                assert payload(result, "ocean", way) == pytest.approx(4 * 4 * 2**20, rel=0.02)
    # System calls and MPI take as long without the ocean; a processor that was idle for 5 ms wakes up later.
    assert min(best_ms[near]) >= 0.030
    assert -0.01 <= min(best_ms[SCENARIO]) - min(best_ms[near]) - 5 <= 0.15


def payload(result: longhaul.Result, link: str, way: str) -> float:
    """Bytes of TCP payload that the link delivered, by its own record."""
    table = result.table("links")
    rows = [n for n, each in enumerate(zip(table["link"], table["way"], strict=True)) if each == (link, way)]
    delivered = sum(table["delivered_bits_per_s"][n] * table["interval_s"][n] / 8 for n in rows)
    return float(delivered - HEADERS * sum(table["delivered_packets"][n] for n in rows))


WHERE = """
version: 1
name: where
params:
  where: "from mpi4py import MPI;
    w = MPI.COMM_WORLD; n = w.gather(MPI.Get_processor_name()); w.rank or print(*n)"
nodes: {a: {kind: router}, "a1..3": {kind: host, attach: a}}
programs:
  filled: {run: [mpirun, -n, "4", python, -c, $where], hosts: [a2, a3], slots: 2}
  dealt: {run: [mpirun, -n, "4", python, -c, $where], hosts: [a2, a3], slots: 2, ranks: round-robin}
  fails: {run: [mpirun, -n, "3", sh, -c, "exit 7"], hosts: [a1..3], expect_exit: 7}
"""


@pytest.mark.waiting
def test_slots_and_ranks_place_processes_and_exit_codes_come_back(mpirun: str, tmp_path: Path) -> None:
    scenario = tmp_path / "where.yaml"
    scenario.write_text(WHERE)
    result = longhaul.run_live(scenario, runs=tmp_path / "runs", report=False)
    assert said(result, "filled").split() == ["a2", "a2", "a3", "a3"]
    assert said(result, "dealt").split() == ["a2", "a3", "a2", "a3"]
    assert result.exit_code == 0


MARK = "75309"
LONG = f"""
version: 1
name: long
nodes: {{a: {{kind: router}}, a1..2: {{kind: host, attach: a}}}}
programs:
  killed: {{run: mpirun -n 2 sleep {MARK}, hosts: [a1..2], expect_exit: any}}
"""


def asleep() -> int:
    return len(
        subprocess.run(
            ["pgrep", "-x", "-f", f"sleep {MARK}"], capture_output=True, check=False
        ).stdout.split()
    )


def until(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.waiting
def test_a_run_that_ends_leaves_no_ranks(mpirun: str, tmp_path: Path) -> None:
    scenario = tmp_path / "long.yaml"
    scenario.write_text(LONG)
    with longhaul.up(scenario, runs=tmp_path / "runs"):
        assert until(lambda: asleep() == 2, 20), "the ranks did not start"
        subprocess.run(["pkill", "-9", "-x", "-f", f"mpirun -n 2 sleep {MARK}"], check=False)
    assert until(lambda: asleep() == 0, 2)


@pytest.mark.waiting
@pytest.mark.parametrize("name", ["Open MPI", "MPICH"])
def test_messages_that_stay_in_shared_memory_do_not_pass_the_doctor(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{MPICH / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    # Both ranks in one host: they exchange by memory, as they would if hosts shared it.
    each = next(each for each in mpi.installed() if each.name.startswith(name))
    plan = mpi.plan_alltoall(each)
    honest = mpi.carried(measure(plan))
    assert all(mpi.accounts_for(way) for way in honest)
    plan["programs"][0]["span"] = {"hosts": [0], "slots": 2, "ranks": "by-cluster"}
    assert not any(mpi.accounts_for(way) for way in mpi.carried(measure(plan)))


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    scenario = tmp_path / "pair.yaml"
    scenario.write_text(
        "version: 1\nname: pair\nnodes: {a: {kind: host}, b: {kind: host}}\n"
        "links: {wan: {endpoints: [a, b], delay: 1ms}}\n"
    )
    with longhaul.up(scenario, runs=tmp_path / "runs") as network:
        yield network


def in_a(network: longhaul.Network, script: str) -> "subprocess.CompletedProcess[str]":
    return network.run("a", ["sh", "-c", script], check=False)


@pytest.mark.waiting
def test_the_agent_runs_a_command_in_another_host_as_ssh_would(pair: longhaul.Network) -> None:
    assert (
        in_a(pair, "$LONGHAUL_AGENT -x -l me you@b 'echo $LONGHAUL_HOST; uname -n; exit 5'").stdout
        == "b\nb\n"
    )
    assert in_a(pair, "$LONGHAUL_AGENT b exit 5").returncode == 5
    assert in_a(pair, "echo word | $LONGHAUL_AGENT b cat").stdout == "word\n"
    assert in_a(pair, "cd /usr && $LONGHAUL_AGENT b pwd").stdout == "/usr\n"
    assert in_a(pair, "echo word | $LONGHAUL_AGENT -n b cat").stdout == ""


@pytest.mark.waiting
def test_the_agent_refuses_with_a_reason(pair: longhaul.Network) -> None:
    unknown = in_a(pair, "$LONGHAUL_AGENT c true")
    assert unknown.returncode == 255
    assert 'there is no host "c" in this run' in unknown.stderr
    assert "name a host" in in_a(pair, "$LONGHAUL_AGENT").stderr
    agent = str(pair.directory / "raw/hosts.d/longhaul-agent")
    outside = subprocess.run([agent, "b", "true"], capture_output=True, text=True, check=False)
    assert outside.returncode == 255
    assert "longhaul exec b" in outside.stderr


@pytest.mark.waiting
def test_what_passes_through_the_agent_does_not_cross_the_network(
    pair: longhaul.Network, tmp_path: Path
) -> None:
    (tmp_path / "sent").write_bytes(b"x" * 1_000_000)
    copied = in_a(pair, f'rsync -e "$LONGHAUL_AGENT" {tmp_path}/sent b:{tmp_path}/received')
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "received").stat().st_size == 1_000_000
    assert pair.down().link("wan")["packets"]["delivered"] == 0
