"""The NAS parallel benchmarks, real, with every rank on a host of its own."""

import json
import sys
from pathlib import Path

import pytest
from mpi_installations import HINT, INSTALLATIONS

import longhaul

pytestmark = pytest.mark.waiting

ALL = Path(__file__).parents[1] / "workloads/all_kernels.py"
KERNELS = ("ep", "is", "cg", "mg", "ft")
CLUSTERS = """
version: 1
name: kernels
addresses: ipv4
topology:
  kind: clusters
  clusters: 2
  hosts: 4
  access: {delay: 10us, rate: 1Gbit}
  wan: {delay: 100us, rate: 1Gbit}
"""


def test_class_s_is_right_on_1_2_4_and_8_hosts_and_class_w_on_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not Open MPI 5, whose launcher now and then does not start its daemons on a machine of two processors.
    launcher, library = found = INSTALLATIONS["debian"]
    if not found.exists:
        pytest.skip(HINT)
    monkeypatch.setenv("MPI4PY_LIBMPI", str(library))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    # Ranks that wait leave the processors to those that compute.
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    scenario = tmp_path / "kernels.yaml"
    scenario.write_text(CLUSTERS)
    with longhaul.up(scenario, runs=tmp_path / "runs") as network:
        for ranks, problems in ((1, "S"), (2, "S"), (4, "S"), (8, "SW")):
            said = ["real", problems]
            ended = network.run("c1-h1", [launcher, "-n", str(ranks), sys.executable, str(ALL), *said])
            found = json.loads(ended.stdout.splitlines()[-1])
            assert set(found) == {f"{name} {problem}" for name in KERNELS for problem in problems}
            for name, every in found.items():
                assert len(every) == ranks
                assert all(rank["verified"] for rank in every), (name, ranks)
            hosts = {rank["host"] for every in found.values() for rank in every}
            assert len(hosts) == ranks
    # With eight ranks FT alone sends 7/8 of its array seven times, and half of that between the clusters.
    wan = network.result.link("c1-c2")
    assert wan["packets"]["delivered"] > 7 / 8 * 7 * 16 * (64**3 + 128 * 128 * 32) / 4 / 1500
