"""Sweeps on a Dask cluster: here one of processes on this machine."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from without_figures import part_files

import longhaul
from longhaul.errors import LonghaulError
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.cluster import Cluster
from longhaul.sweeps.local import Threads
from longhaul.sweeps.place import Place, place_of
from longhaul.sweeps.preparation import prepare

from .test_sweeps import SCENARIO

distributed = pytest.importorskip("distributed", reason="clusters need longhaul[dask]")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "pair.yaml"
    path.write_text(SCENARIO.replace("duration: 2s", "duration: 20s").replace("stop: 1500ms", "stop: 19s"))
    return path


def test_a_cluster_gives_the_same_parts_and_a_lost_worker_loses_nothing(
    scenario: Path, tmp_path: Path
) -> None:
    options = Options(repeat=20)
    prepared = prepare(scenario, settings={}, options=options)
    folder = sweeps.begin(prepared, runs=tmp_path / "a", argv=[])
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))

        parts_at_death: list[int] = []

        def kill() -> None:
            while len(list(folder.parts.glob("*.parquet"))) < 2:
                time.sleep(0.05)
            os.kill(victim, signal.SIGKILL)
            parts_at_death.append(len(list(folder.parts.glob("*.parquet"))))

        killer = threading.Thread(target=kill)
        killer.start()
        address = Place("address", options={"address": cluster.scheduler_address})
        with Cluster(address) as workers:
            swept = sweeps.execute(folder, prepared, workers, report=False)
        killer.join()
    assert parts_at_death
    assert parts_at_death[0] < len(part_files(swept.directory)), "it was killed while the sweep ran"
    assert (swept.exit_code, swept.summary["points"], swept.summary["failed"]) == (0, 80, 0)
    there = prepare(scenario, settings={}, options=options)
    here = sweeps.begin(there, runs=tmp_path / "b", argv=[])
    here.update(shard_points=folder.read()["shard_points"])
    with Threads() as threads:
        local = sweeps.execute(here, there, threads, report=False)
    assert part_files(swept.directory) == part_files(local.directory)


def test_a_cluster_is_a_kind_an_address_or_a_file(tmp_path: Path) -> None:
    assert place_of("slurm") == Place("slurm")
    assert place_of("tcp://head:8786") == Place("address", options={"address": "tcp://head:8786"})
    path = tmp_path / "cluster.yaml"
    path.write_text("{kind: pbs, jobs: 3, cores: 8, memory: 16GB, queue: long}")
    assert place_of(str(path)) == Place("pbs", 3, {"cores": 8, "memory": "16GB", "queue": "long"})


@pytest.mark.parametrize(
    ("text", "content", "words"),
    [
        ("slurn", None, 'there is no kind of cluster "slurn"; did you mean "slurm"?'),
        ("absent.yaml", None, "cannot read"),
        ("c.yaml", "{kind: cloud}", "does not say which kind of cluster it is; write for example"),
        ("c.yaml", "{kind: slurm, jobs: 0}", "jobs: 0 is not a number of workers; write for example"),
        ("c.yaml", "{kind: [", "is not YAML"),
        ("tcp://127.0.0.1:9", None, "no Dask scheduler answers at tcp://127.0.0.1:9; start one"),
        ("slurm", None, "slurm: "),
    ],
)
def test_a_wrong_cluster_is_named(
    scenario: Path,
    tmp_path: Path,
    text: str,
    content: str | None,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("longhaul.sweeps.cluster.ANSWER_S", 1)
    if content is not None:
        Path(text).write_text(content)
    with pytest.raises(LonghaulError) as caught:
        longhaul.sweep(scenario, repeat=1, cluster=text)
    assert not Path("runs").exists()
    assert words in str(caught.value)
    assert "; " in str(caught.value) or "cannot read" in words
