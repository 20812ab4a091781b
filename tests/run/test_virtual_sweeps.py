"""Sweeps on the virtual clock before their first run: kernels, metrics and columns."""

import pickle
import platform
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from installed_kernels import installed

import longhaul
from longhaul.errors import LonghaulError
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.job import Piece, Shard, run_shard
from longhaul.sweeps.preparation import Prepared, prepare
from longhaul.sweeps.trials import UnableMachineError, trials_of

SCENARIO = """\
version: 1
name: pair
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {a-b: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
programs: {p: {run: "true", host: a}}
"""
ONE = Shard(0, 0, (Piece(0, ("5ms",), 0, 1),))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of kernels, in which there is none; the working directory is an empty one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache/longhaul/kernels"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "pair.yaml"
    path.write_text(SCENARIO)
    return path


def prepared(
    scenario: Path, axes: dict[str, str], kernel: str | None = None, metrics: tuple[str, ...] = ()
) -> Prepared:
    options = Options(axes=axes, repeat=2, metrics=metrics)
    return prepare(scenario, settings={}, options=options, trials=trials_of("virtual", kernel))


@pytest.mark.parametrize(
    ("axes", "kernel", "words"),
    [
        (
            {"links.a-b.delay": ["5ms"]},
            "6.6",
            'this user has no guest kernel "6.6"; there is 6.12.9, 6.1.2, or',
        ),
        (
            {"kernel": ["6.12", "6.6"]},
            None,
            'kernel: this user has no guest kernel "6.6"; there is 6.12.9, 6.1.2, or',
        ),
        ({"links.a-b.delay": ["5ms"]}, "6.1", "guest kernel 6.1.2 was built by another version of Longhaul"),
    ],
)
def test_a_kernel_that_is_missing_or_outdated_is_one_error_before_the_sweep(
    scenario: Path, cache: Path, axes: dict[str, list[str]], kernel: str | None, words: str
) -> None:
    installed(cache, "6.12.9")
    installed(cache, "6.1.2", outdated=True)
    with pytest.raises(LonghaulError) as caught:
        longhaul.sweep(scenario, axes=axes, clock="virtual", kernel=kernel)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("runs").exists()


def test_simulations_have_no_kernel(scenario: Path) -> None:
    with pytest.raises(LonghaulError, match="simulations have no kernel; leave it out"):
        longhaul.sweep(scenario, axes={"links.a-b.delay": ["5ms"]}, kernel="6.12")


def test_a_resumed_sweep_has_the_kernels_that_its_versions_meant_at_first(
    scenario: Path, cache: Path, tmp_path: Path
) -> None:
    installed(cache, "6.12.9")
    installed(cache, "6.6.1")
    first = prepared(scenario, {"kernel": "6.6,6.12"})
    folder = sweeps.begin(first, runs=tmp_path / "runs", argv=[])
    installed(cache, "6.12.117")
    found, rest = sweeps.prepare_rest(folder.path)
    record = found.read()["trials"]
    assert rest.job.trials == first.job.trials
    assert record["kernels"] == {"6.6": "6.6.1", "6.12": "6.12.9"}
    assert record["directory"] == str(tmp_path)
    assert [each["release"] for each in record["guest_kernels"]] == ["6.6.1-longhaul", "6.12.9-longhaul"]
    assert prepared(scenario, {"kernel": "6.6,6.12"}).job.trials.kernels["6.12"] == "6.12.117"


def test_versions_are_text_and_each_run_is_a_shard(scenario: Path, cache: Path) -> None:
    installed(cache, "6.1.2")
    installed(cache, "6.10.4")
    found = prepared(scenario, {"kernel": "6.1,6.10"})
    assert found.job.columns == (("axis_kernel", "string"),)
    assert [shard.points for shard in found.shards(0, None, size=found.shard_size(0.0))] == [1, 1, 1, 1]


def test_a_machine_without_the_kernel_says_which_it_is_and_leaves_the_run_to_others(
    scenario: Path, cache: Path
) -> None:
    kernel = installed(cache, "6.12.9")
    job = prepared(scenario, {"links.a-b.delay": "5ms"}).job
    kernel.directory.rename(cache / "6.13")
    with pytest.raises(UnableMachineError) as caught:
        run_shard(job, ONE)
    error = caught.value
    assert str(error).startswith(f'{platform.node()}: this user has no guest kernel "6.12.9"; there is')
    # From a worker of a cluster it comes pickled.
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.remedy) == (str(error), error.code, error.remedy)


def test_a_variant_that_cannot_be_is_a_row_with_its_error(
    scenario: Path, cache: Path, tmp_path: Path
) -> None:
    installed(cache, "6.12.9")
    job = prepared(scenario, {"kernel": "'6.12'", "programs.p.host": "a,b"}).job
    part = run_shard(job, Shard(0, 0, (Piece(3, ('"6.12"', "nowhere"), 1, 1),)))
    assert part is not None
    (tmp_path / "part.parquet").write_bytes(part)
    (row,) = pq.read_table(tmp_path / "part.parquet").to_pylist()
    assert (row["variant"], row["repeat"], row["item"]) == (3, 1, None)
    assert row["axis_kernel"] == "6.12"
    assert "nowhere" in row["error"]


def test_metrics_of_live_runs_are_measured_on_the_virtual_clock_alone(scenario: Path, cache: Path) -> None:
    installed(cache, "6.12.9")
    wanted = ("exit", "peak_rate", "fidelity.lateness.p99")
    assert prepared(scenario, {"links.a-b.delay": "5ms"}, metrics=wanted).warnings == []
    scenario.write_text(f"{SCENARIO}traffic: {{t: {{kind: ping, from: a, to: b}}}}\n")
    for metric in wanted:
        with pytest.raises(LonghaulError, match="is not measured in a sweep"):
            prepare(
                scenario, settings={}, options=Options(axes={"links.a-b.delay": "5ms"}, metrics=(metric,))
            )
    with pytest.raises(LonghaulError, match=r'"fidelity\.verdict" is not measured in a sweep'):
        prepared(scenario, {"links.a-b.delay": "5ms"}, metrics=("fidelity.verdict",))
