"""Who has not the certificate of a cluster of workers can have it run nothing, from whichever process."""

import os
from pathlib import Path

import pytest

from .dask_attack import attack, family, http, listening, sweeping

pytest.importorskip("distributed", reason="clusters need longhaul[dask]")
pytest.importorskip("cryptography", reason="clusters need longhaul[dask]")


def test_the_attack_itself_works_on_a_cluster_without_certificates(tmp_path: Path) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as cluster:
        port = int(cluster.scheduler_address.rpartition(":")[2])
        assert f"ran as {os.getuid()}" in attack({("127.0.0.1", port)})


def test_a_local_cluster_runs_nothing_for_a_process_without_its_certificate(
    work: Path, environment: dict[str, str]
) -> None:
    with sweeping(work, environment, "local") as process:
        places = listening(family(process.pid))
        assert places, "its scheduler listens somewhere"
        assert {host for host, _port in places} == {"127.0.0.1"}
        told = attack(places)
        assert told, "the attack has run"
        assert not [line for line in told if not line.startswith("refused")]
        for host, port in places:
            assert b" 200 " not in http(host, port), "nothing is served where no dashboard was asked for"
        secrets = list((Path(environment["XDG_STATE_HOME"]) / "longhaul").glob("cluster-*"))
        assert [each.stat().st_mode & 0o777 for each in secrets] == [0o700]
        assert {each.stat().st_mode & 0o777 for each in secrets[0].iterdir()} == {0o600}
        assert not list(Path("/tmp").glob("dask-scratch-space/*-" + str(process.pid)))
    assert not secrets[0].exists(), "nothing is left"


def test_a_dashboard_that_is_asked_for_is_where_it_is_said_to_be(
    work: Path, environment: dict[str, str]
) -> None:
    from longhaul.sweeps.cluster import Cluster
    from longhaul.sweeps.place import Place

    with Cluster(Place("local", options={"n_workers": 1}, dashboard=0)) as cluster:
        kind, _, url = cluster.describe().rpartition(" ")
        assert kind == "local, dashboard"
        port = int(url.split(":")[2].split("/")[0])
        assert b" 200 " in http("127.0.0.1", port)
        assert {host for host, _port in listening(family(os.getpid()))} <= {"127.0.0.1"}
    with Cluster(Place("local", options={"n_workers": 1})) as cluster:
        assert cluster.describe().startswith("local, scheduler tls://127.0.0.1:")


def test_who_connects_to_a_scheduler_without_tls_is_warned(caplog: pytest.LogCaptureFixture) -> None:
    from distributed import LocalCluster

    from longhaul.sweeps.cluster import Cluster
    from longhaul.sweeps.place import Place

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as cluster:
        place = Place("address", options={"address": cluster.scheduler_address})
        with Cluster(place) as workers:
            assert workers.describe() == f"address, scheduler {cluster.scheduler_address}"
    assert "can run code as the user of its workers; start the scheduler with TLS" in caplog.text
