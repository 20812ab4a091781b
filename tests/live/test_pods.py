"""Live runs in pods of Kubernetes: a stand-in for kubectl, whose pods are namespaces of this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import kubectl_stand_in
import pytest
from machine_room import MachineRoom, machine_room, missing

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

COMMAND = str(Path(sys.executable).parent / "longhaul")
SCENARIO = """\
version: 1
name: wan
duration: {duration}
nodes:
  par: {{kind: router, place: pod0}}
  nyc: {{kind: router, place: pod1}}
  par1: {{kind: host, attach: par}}
  nyc1: {{kind: host, attach: nyc}}
links:
  atlantic: {{endpoints: [par, nyc], rate: 50Mbit, delay: 40ms}}
traffic:
  rtt: {{kind: ping, from: par1, to: nyc1, every: 20ms}}
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    with machine_room(tmp_path_factory.mktemp("room"), 2) as found:
        yield found


@pytest.fixture
def environment(room: MachineRoom, tmp_path: Path) -> dict[str, str]:
    """One whose kubectl has the machines of the room."""
    pods = [
        {"command": room.at(name), "address": f"10.77.{number + 1}.1"}
        for number, name in enumerate(room.names)
    ]
    (tmp_path / "runtime").mkdir(mode=0o700)
    bin_ = kubectl_stand_in.write(tmp_path, pods)
    description = f"kind: kubernetes\npods: 2\nimage: lab/longhaul:1\npython: {sys.executable}\n"
    (tmp_path / "pods.yaml").write_text(description)
    path = f"{bin_}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}


def longhaul(
    room: MachineRoom, place: Path, environment: dict[str, str], *words: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        room.at_switch(COMMAND, *words),
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_run_in_two_pods_is_that_of_one_machine_and_leaves_no_pods(
    room: MachineRoom, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "wan.yaml").write_text(SCENARIO.format(duration="3s"))
    done = longhaul(room, tmp_path, environment, "run", "wan.yaml", "--on", "pods.yaml", "--no-report")
    assert "waiting for 2 pods of lab/longhaul:1" in done.stderr
    summary = tmp_path / "runs/wan/latest/summary.json"
    found = json.loads(summary.read_text())
    (ping,) = found["probes"]
    # A busy machine only adds.
    assert 80e6 <= ping["rtt_min_ns"] < 110e6
    assert ping["lost"] == 0
    assert [each["name"] for each in json.loads((summary.parent / "run.json").read_text())["machines"]] == [
        "pod0",
        "pod1",
    ]
    assert not (tmp_path / "job.json").exists()


def test_ctrl_c_keeps_the_results_and_removes_the_pods(
    room: MachineRoom, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "wan.yaml").write_text(SCENARIO.format(duration="100s"))
    command = room.at_switch(COMMAND, "run", "wan.yaml", "--on", "pods.yaml", "--no-report")
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL
    ) as running:
        assert running.stderr
        for line in running.stderr:
            if "hosts up" in line:
                break
        time.sleep(1)
        assert (tmp_path / "job.json").exists()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert not (tmp_path / "job.json").exists()
    record = json.loads((tmp_path / "runs/wan/latest/run.json").read_text())
    assert record["status"] == "interrupted"


def test_a_network_that_stays_up_keeps_its_pods_until_it_is_taken_down(
    room: MachineRoom, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "wan.yaml").write_text(SCENARIO.format(duration="1s"))
    up = longhaul(room, tmp_path, environment, "up", "wan.yaml", "--on", "pods.yaml")
    assert up.returncode == 0, up.stderr
    assert (tmp_path / "job.json").exists()
    there = longhaul(room, tmp_path, environment, "exec", "nyc1", "--", "hostname")
    assert there.stdout == "nyc1\n", there.stderr
    down = longhaul(room, tmp_path, environment, "down")
    assert "wan" in down.stdout, down.stderr
    assert not (tmp_path / "job.json").exists()


def test_a_scenario_that_cannot_be_divided_leaves_no_pods(
    room: MachineRoom, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "wan.yaml").write_text(SCENARIO.format(duration="1s").replace("delay: 40ms", "delay: 0ms"))
    for words in (("run", "wan.yaml"), ("up", "wan.yaml")):
        refused = longhaul(room, tmp_path, environment, *words, "--on", "pods.yaml")
        assert refused.returncode == 2, refused.stderr
        assert not (tmp_path / "job.json").exists()
        assert not list((tmp_path / "runs").glob("wan/*"))


def test_pods_have_the_hosts_of_a_run_on_the_virtual_clock(
    room: MachineRoom, tmp_path: Path, environment: dict[str, str]
) -> None:
    try:
        find()
    except LonghaulError as error:
        pytest.skip(error.message)
    (tmp_path / "wan.yaml").write_text(SCENARIO.format(duration="1s"))
    how = ("--on", "pods.yaml", "--clock", "virtual")
    refused = longhaul(room, tmp_path, environment, "up", "wan.yaml", *how)
    assert refused.returncode == 2
    assert "up --clock virtual has no pods" in refused.stderr
    assert not (tmp_path / "job.json").exists()

    done = longhaul(room, tmp_path, environment, "run", "wan.yaml", *how, "--no-report")
    assert done.returncode == 0, done.stderr
    assert "machines: pod0 (1 host), pod1 (1 host); the network is on this one" in done.stderr
    found = json.loads((tmp_path / "runs/wan/latest/summary.json").read_text())
    (ping,) = found["probes"]
    assert (ping["rtt_min_ns"], ping["lost"]) == (80_000_000, 0)
    assert not (tmp_path / "job.json").exists()
