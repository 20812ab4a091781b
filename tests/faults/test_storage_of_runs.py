"""Each change that simulations, sweeps and relays make to the disk fails once, in each way.

What is left is readable, has no good verdict unless it is complete, and has nothing twice.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from faults.scenarios import NEAR_AND_FAR
from faults.storage import Outcome, each_fault, parts
from longhaul.errors import LonghaulError
from longhaul.relay import server
from longhaul.results import ending
from longhaul.results.outcomes import read_outcome
from longhaul.results.summary import write_results
from longhaul.run import sim
from longhaul.run.conclusion import conclude
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.folder import Folder
from longhaul.sweeps.local import Threads
from longhaul.sweeps.preparation import Prepared, prepare

pytestmark = pytest.mark.usefixtures("no_sync")

SCENARIO = """
version: 1
name: t
duration: 200ms
params: {loss: 0%}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 1ms, rate: 5Mbit, loss: $loss}}
traffic: {load: {kind: udp, from: a, to: b, rate: 1Mbit}}
"""
EXPECTED_ERRORS = (OSError, LonghaulError)


def sampled(program: Callable[[], object], *, every: int = 3) -> Iterator[Outcome]:
    """An error at every third change, say, and the other faults at fewer."""
    yield from each_fault(program, kinds=("EIO",), every=every)
    yield from each_fault(program, kinds=("short write", "crash before", "crash after"), every=2 + 3 * every)


def check_error(outcome: Outcome) -> None:
    """A fault is one line for the user, never an internal error; a crash is nothing that could be caught."""
    if not outcome.kind.startswith("crash"):
        assert outcome.error is None or isinstance(outcome.error, EXPECTED_ERRORS), outcome


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "t.yaml"
    path.write_text(SCENARIO)
    return path


def directories(runs: Path) -> list[Path]:
    return [each for each in sorted((runs / "t").glob("2*")) if each.is_dir()]


def test_a_simulation_is_readable_and_not_good_after_every_fault(scenario: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    resolved = resolve(load_scenario(scenario))

    def program() -> None:
        shutil.rmtree(runs, ignore_errors=True)
        done = sim.run(resolved, runs=runs, argv=[], progress=lambda _now, _real: None)
        conclude(done.directory, reason=done.reason, report=False)

    whole = None
    for outcome in sampled(program, every=1):
        check_error(outcome)
        for directory in directories(runs):
            if not (directory / "run.json").exists():
                # It stopped before the directory was a run: nothing takes it for one.
                assert outcome.kind == "crash after"
                continue
            found = read_outcome(directory)
            if outcome.error is None or found.state == "passed":
                summary = json.loads((directory / "summary.json").read_text())
                whole = whole or summary["flows"]
                assert summary["flows"] == whole, outcome
                for table in directory.glob("*.parquet"):
                    pq.read_table(table)
            else:
                assert found.state in ("failed", "crashed", "running"), outcome
            if found.state == "running" and not outcome.kind.startswith("crash"):
                # The simulation is done; whoever writes its results may begin again for two minutes.
                assert found.detail == "writing results", outcome
            if not outcome.kind.startswith("crash"):
                assert parts(directory) == [], outcome
        assert len(directories(runs)) <= 1
    assert whole


def test_results_are_complete_when_they_are_written_again(scenario: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    done = sim.run(resolve(load_scenario(scenario)), runs=runs, argv=[], progress=lambda _now, _real: None)
    raw = shutil.copytree(done.directory, tmp_path / "raw")
    expected = write_results(done.directory)
    tables = {each.name: pq.read_table(each) for each in done.directory.glob("*.parquet")}

    def program() -> None:
        shutil.rmtree(done.directory)
        shutil.copytree(raw, done.directory)
        conclude(done.directory, reason=done.reason, report=False)

    for outcome in sampled(program):
        check_error(outcome)
        again = conclude(done.directory, reason=done.reason, report=False)
        assert again["flows"] == expected["flows"], outcome
        assert again["outcome"]["state"] == "passed"
        found = {each.name: pq.read_table(each) for each in done.directory.glob("*.parquet")}
        assert found == tables, outcome


def test_a_sweep_resumes_to_the_same_parts_after_every_fault(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Prepared, "shard_size", lambda _self, _point_s: 2)
    runs = tmp_path / "runs"
    options = Options(axes={"loss": "0%,5%"}, repeat=2)
    prepared = prepare(scenario, settings={}, options=options)

    def program() -> None:
        shutil.rmtree(runs, ignore_errors=True)
        with Threads(1) as workers:
            folder = sweeps.begin(prepared, runs=runs, argv=[])
            sweeps.execute(folder, prepared, workers, report=False)

    program()
    begun = directories(runs)[0]
    expected = {each.name: each.read_bytes() for each in (begun / "parts").iterdir()}
    table = pq.read_table(begun / "summary.parquet")
    assert len(expected) == 2
    resumed = 0
    for outcome in sampled(program):
        check_error(outcome)
        for directory in directories(runs):
            if not (directory / "sweep.json").exists():
                continue
            found = ending.read(directory)
            summary = directory / "summary.json"
            if found.status == "done":
                # The record is the last but the manifest, which nobody needs.
                assert summary.is_file(), outcome
                assert pq.read_table(directory / "summary.parquet") == table, outcome
            for part in Folder(directory).find_parts().good.values():
                assert part.read_bytes() == expected[part.name], outcome
            with Threads(1) as workers:
                again = sweeps.execute(*sweeps.prepare_rest(directory), workers, report=False)
            assert again.exit_code == 0
            assert again.summary["points"] == 4, "none is missing, and none is there twice"
            left = {each.name: each.read_bytes() for each in (directory / "parts").glob("*.parquet")}
            assert left == expected, outcome
            assert pq.read_table(directory / "summary.parquet") == table
            assert summary.is_file()
            resumed += 1
    assert resumed > 20


def test_a_relay_is_readable_and_not_good_after_every_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "t.yaml").write_text(NEAR_AND_FAR)
    runs = tmp_path / "runs"
    resolved = resolve(load_scenario(tmp_path / "t.yaml"))

    def program() -> None:
        shutil.rmtree(runs, ignore_errors=True)
        order = server.Order(runs, [], duration_ns=1_000_000)
        server.serve(resolved, order, told=lambda _opened: None)

    good = 0
    for outcome in sampled(program):
        check_error(outcome)
        for directory in directories(runs):
            if not (directory / "run.json").exists():
                continue
            found = read_outcome(directory)
            if found.state == "passed":
                good += 1
                for table in directory.glob("*.parquet"):
                    pq.read_table(table)
                assert outcome.error is None or (directory / "summary.json").is_file(), outcome
            else:
                assert found.state in ("failed", "crashed", "running"), outcome
        assert list((tmp_path / "runtime").rglob("*.sock")) == [], outcome
    assert good
