"""The order of the tests, which of them run side by side, and the budget of time of each.

Tests run side by side, file by file, more at once than there are processors (``pytest -n 4`` on two): many
wait. Those of ``tests/live`` are ``quiet`` unless they are marked ``waiting``: they measure live runs, whose
engine needs a processor for itself. ``tools/check`` runs these afterwards, one at a time; those marked
``light``, whose runs take less than a fifth of a processor, two at a time. Live runs whose results do not
depend on when the engine gets a processor are marked ``waiting`` and run side by side: how runs end, what
they leave, files, addresses, ports, routing daemons. They look for leftovers of their own runs alone. A test
of a file that is ``waiting`` can be ``quiet`` itself.
"""

import gc
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent
QUIET = "live"
"""The directory of tests that need a machine without other work."""
PORTS = frozenset(
    f"tests/live/{name}.py"
    for name in ("test_bridge_ports", "test_containers", "test_ports", "test_tap_ports")
)
"""Files whose tests make interfaces of fixed names, and compare those of the machine before and after."""
APART = frozenset(("tests/studies/test_programs.py",))
"""Files of long tests that share nothing: each test is a piece of work of its own."""
LONG = ("studies", "virtual", "workloads")
"""Directories of files that take long. Their files come first, so that short ones fill the end."""
WAITING = ("faults", "live", "relay")
"""Directories of tests that mostly wait. One of their files comes after two others: no processor idles."""
BUDGET_S = 20
"""Time of a test on two cores. The summary lists tests that exceed it and are not in SLOW."""
SLOW = frozenset(
    (
        "tests/analysis/test_fitting_ranking.py::test_a_measured_weibull_comes_first_of_all_twelve",
        "tests/cli/test_benchmark_aqm.py::test_live_meets_simulated",
        "tests/cli/test_benchmark_cc.py::test_live_meets_simulated",
        "tests/cli/test_sweep.py::test_the_guide_works",
        "tests/cli/test_tour.py::test_every_command_of_the_tour_works",
        "tests/cli/test_tour.py::test_the_python_of_the_guide_works",
        "tests/cli/test_tour.py::test_the_tutorial_works",
        "tests/live/test_kernels.py::test_class_s_is_right_on_1_2_4_and_8_hosts_and_class_w_on_8",
        "tests/live/test_host_roots.py::test_a_debian_of_its_own_is_a_host",
        "tests/live/test_routing_daemons.py::test_bgp_of_the_guide_takes_the_fibre_while_the_dish_is_down",
        "tests/live/test_routing_daemons.py::test_the_ring_of_the_guide_reroutes_while_its_link_is_down",
        "tests/live/test_routing_daemons.py::test_frr_converges_and_takes_the_detour_while_a_link_is_down[ospfd]",
        "tests/live/test_several_machines.py::test_the_batch_script_of_the_guide_runs_on_two_nodes_of_slurm",
        "tests/page/test_answers.py::test_every_address_answers_as_the_schema_says",
        "tests/run/test_sweeps_slurm.py::test_slurm_survives_a_cancelled_worker_and_a_killed_client_and_gives_the_same",
        "tests/scheduling/test_optimality.py::test_no_policy_serves_more_than_the_exact_search",
        "tests/security/test_dask.py::test_a_local_cluster_runs_nothing_for_a_process_without_its_certificate",
        "tests/security/test_dask_slurm.py::test_jobs_of_slurm_run_nothing_for_a_process_without_their_certificate",
        "tests/studies/test_programs.py::test_a_part_on_the_virtual_clock_runs_at_a_small_size[ewan-linux]",
        "tests/studies/test_programs.py::test_a_part_runs_at_a_small_size_and_evaluates_its_claims[nemc-programs]",
        "tests/studies/test_programs.py::test_a_part_runs_at_a_small_size_and_evaluates_its_claims[teragrid-trials]",
    )
)
"""Tests that may exceed the budget. They run first, so that no process is left alone with one at the end."""


class FilesAndSlowTests(LoadScopeScheduling):
    """Each file runs in one process, with its fixtures; each slow test is a piece of work of its own.

    Tests that start a Slurm, which there can be one of, are one piece, and so are tests with ports.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        if "slurm" in file:
            return "slurm"
        if file in PORTS:
            return "ports"
        return nodeid if nodeid in SLOW or file in APART else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return FilesAndSlowTests(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collected tests and imported modules stay: garbage is searched for among later objects alone."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        in_quiet = item.path.relative_to(TESTS).parts[0] == QUIET
        if in_quiet and item.get_closest_marker("waiting") is None:
            item.add_marker("quiet")
        if item.nodeid in SLOW:
            item.add_marker("slow")
    if hasattr(config, "workerinput"):
        rank = ranked(list(dict.fromkeys(item.path for item in items)))
        items.sort(key=lambda item: (item.nodeid not in SLOW, rank[item.path]))


def ranked(files: list[Path]) -> dict[Path, int]:
    """The places of files in the order in which they are run."""

    def package(file: Path) -> str:
        return file.relative_to(TESTS).parts[0]

    waiting = [each for each in files if package(each) in WAITING]
    others = sorted(
        (each for each in files if package(each) not in WAITING), key=lambda each: package(each) not in LONG
    )
    places = {each: 3 * number + 2 for number, each in enumerate(waiting)}
    places |= {each: number + number // 2 for number, each in enumerate(others)}
    return {each: number for number, each in enumerate(sorted(files, key=lambda each: (places[each], each)))}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    took_s: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                took_s[report.nodeid] += report.duration
    over = [(nodeid, taken_s) for nodeid, taken_s in took_s.most_common() if taken_s > BUDGET_S]
    for nodeid, taken_s in over:
        if nodeid not in SLOW:
            terminalreporter.write_line(f"over the budget of {BUDGET_S} s: {taken_s:.0f} s {nodeid}")
