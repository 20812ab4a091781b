"""The NAS parallel benchmarks: right on any number of ranks, and skeletons that send the same."""

import json
from importlib import import_module
from typing import Any

import pytest

from longhaul.workloads.commands.kernels import MODULES
from longhaul.workloads.costs import known
from longhaul.workloads.recording import Recorder

from .ranks import on_ranks, script, workload

RANKS = (1, 2, 4, 8)
KERNELS = ("ep", "is", "cg", "mg", "ft")
EVERY = [f"{name} {problem}" for name in KERNELS for problem in "SW"]


@pytest.fixture(scope="module", params=RANKS)
def ended(request: pytest.FixtureRequest) -> dict[str, list[dict[str, Any]]]:
    """Each kernel and class, by what each rank says of it."""
    return script(request.param, "all_kernels.py")


def test_every_kernel_gives_the_published_values(ended: dict[str, list[dict[str, Any]]]) -> None:
    assert {name: [rank["verified"] for rank in ranks] for name, ranks in ended.items()} == {
        name: [True] * len(ended[name]) for name in EVERY
    }


def test_every_kernel_gives_the_published_values_on_ranks_that_sleep_while_they_wait() -> None:
    ranks = script(4, "all_kernels.py", "S", "real", "sleep")
    assert {name: [each["verified"] for each in found] for name, found in ranks.items()} == {
        f"{name} S": [True] * 4 for name in KERNELS
    }


def test_a_rank_that_sleeps_while_it_waits_leaves_its_core_to_others() -> None:
    """With polling it would be two seconds."""
    assert script(2, "late.py") < 0.5


def test_pairs_in_each_ring_are_those_published(ended: dict[str, list[dict[str, Any]]]) -> None:
    figures = ended["ep S"][0]["figures"]
    assert figures["counts"] == [6140517, 5865300, 1100361, 68546, 1648, 17, 0, 0, 0, 0]
    assert figures["pairs"] == 13176389


def test_a_skeleton_sends_the_same_messages_in_the_same_order(ended: dict[str, list[dict[str, Any]]]) -> None:
    for name, ranks in ended.items():
        for rank in ranks:
            real, skeleton = rank["messages"]
            assert real == skeleton, name
            if not name.startswith("is"):
                assert rank["sent"][0] == rank["sent"][1], name
                assert rank["pattern"][0] == rank["pattern"][1], name


def test_what_is_recorded_is_what_a_skeleton_sends(ended: dict[str, list[dict[str, Any]]]) -> None:
    for name, ranks in ended.items():
        kernel, problem = name.split()
        module = import_module(f"longhaul.workloads.{MODULES[kernel]}")
        for number, rank in enumerate(ranks):
            recorder = Recorder(number, len(ranks), costs_ns=dict.fromkeys(known(kernel), 1.0))
            module.run(recorder, problem)
            assert recorder.sent_bytes == rank["sent"][1], name
            assert recorder.pattern == rank["pattern"][1], name
            computed = sum(step.amount for step in recorder.steps if step.do == "compute")
            assert computed == pytest.approx(sum(rank["units"][1].values()), abs=1), name


def test_a_sorting_skeleton_sends_as_many_keys_as_are_expected(
    ended: dict[str, list[dict[str, Any]]],
) -> None:
    """A rank keeps a share of N / P keys, binomially distributed; ten times the same, and 4 bytes each."""
    for name, exponent in (("is S", 16), ("is W", 20)):
        ranks = ended[name]
        mine, share = 2**exponent / len(ranks), 1 / len(ranks)
        # Beside chance, the ends of the shares may move by one bucket, with 4 / 3 of the mean number of keys.
        bucket = mine * 4 / 3 / (2**9 if name == "is S" else 2**10)
        tolerance = 10 * 4 * (5 * (mine * share * (1 - share)) ** 0.5 + 2 * bucket)
        for rank in ranks:
            real, skeleton = rank["sent"]
            assert abs(real - skeleton) <= tolerance, name


def test_all_keys_but_those_kept_cross_the_network(ended: dict[str, list[dict[str, Any]]]) -> None:
    """Ten times 2^16 keys of 4 bytes, of which one in P stays, and each message of counts and buckets."""
    ranks = ended["is S"]
    count = len(ranks)
    keys = 10 * 4 * 2**16 * (1 - 1 / count)
    others = count * 10 * ((4 * (2**9 + 5) if count > 1 else 0) + 4 * (count - 1))
    assert sum(rank["sent"][0] for rank in ranks) == pytest.approx(keys + others, rel=0.01)


def test_transforms_send_the_whole_array_but_what_stays(ended: dict[str, list[dict[str, Any]]]) -> None:
    for name, points, steps in (("ft S", 64**3, 6), ("ft W", 128 * 128 * 32, 6)):
        ranks = ended[name]
        count = len(ranks)
        for rank in ranks:
            array = (steps + 1) * 16 * points / count * (1 - 1 / count)
            assert rank["sent"][0] == array + (steps * 16 if count > 1 else 0)


def test_units_of_one_rank_are_those_foretold(ended: dict[str, list[dict[str, Any]]]) -> None:
    for name, ranks in ended.items():
        if len(ranks) == 1:
            real, skeleton = ranks[0]["units"]
            assert real == skeleton == pytest.approx(ranks[0]["totals"]), name


def test_a_skeleton_takes_the_computing_time_that_it_is_given() -> None:
    """Two ranks share 0.8 s; their messages take a little more."""
    for kernel in ("ep", "ft"):
        ended = workload(2, kernel, "--mode", "skeleton", "--compute", "800ms")
        assert ended["verified"] is None
        assert ended["compute_s"] == pytest.approx(0.4, rel=0.01)
        assert ended["wall_s"] >= 0.399


@pytest.mark.parametrize(
    ("ranks", "arguments", "message"),
    [
        (3, ("ft",), "FT needs a power of two of ranks, not 3; start it with mpirun -n 2 or -n 4"),
        (2, ("ft", "--class", "D"), "'D' is not one of 'S', 'W', 'A', 'B', 'C'"),
        (2, ("mg", "--compute", "3s"), "--compute is for --mode skeleton"),
        (2, ("mg", "--mode", "skeleton", "--compute", "3"), '"3" is not a time; write "3.2s" or "500ms"'),
        (2, ("cg", "--calibrate"), "--calibrate requires one rank"),
        (2, ("gm",), "No such command 'gm'"),
    ],
)
def test_a_wrong_call_is_one_message_from_rank_0(
    ranks: int, arguments: tuple[str, ...], message: str
) -> None:
    ended = on_ranks(ranks, "-m", "longhaul.workloads", *arguments)
    assert ended.returncode == 2
    assert ended.stderr.count("longhaul-workload: ") == 1
    assert message in ended.stderr


def test_calibration_is_kept_and_used(tmp_path: Any) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    real = workload(1, "mg", "--class", "S", "--calibrate", environment=environment)
    skeleton = workload(1, "mg", "--class", "S", "--mode", "skeleton", environment=environment)
    assert skeleton["compute_s"] == pytest.approx(real["compute_s"], rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "iterations"),
    [("is --class S", 10), ("cg --class S", 15), ("mg --class S", 4), ("ft --class S", 6)],
)
def test_a_kernel_reports_the_time_of_each_iteration(arguments: str, iterations: int) -> None:
    result = workload(2, *arguments.split())
    assert len(result["iteration_s"]) == iterations
    assert 0 < sum(result["iteration_s"]) <= result["wall_s"] * 1.5


def test_iteration_times_follow_the_table_in_a_run() -> None:
    ended = on_ranks(2, "-m", "longhaul.workloads", "cg", environment={"LONGHAUL_HOSTS": "a,b"})
    assert ended.returncode == 0, ended.stderr
    table, line = ended.stdout.splitlines()[:-1], ended.stdout.splitlines()[-1]
    assert table[0].startswith("CG, class S")
    assert len(json.loads(line)["iteration_s"]) == 15
