"""Pods of Kubernetes as machines, with a stand-in for kubectl."""

import json
import os
from pathlib import Path
from typing import Any

import kubectl_stand_in
import pytest

from longhaul.errors import LonghaulError
from longhaul.machines import kubernetes
from longhaul.machines.kubernetes import Description, description_of, manifest, pods_of_run

GOOD = "kind: kubernetes\npods: 2\nimage: registry.example/longhaul:1.0\n"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    bin_ = kubectl_stand_in.write(tmp_path, [{"command": [], "address": f"10.0.0.{n}"} for n in range(3)])
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.setattr(kubernetes, "_BETWEEN_S", 0.05)
    return tmp_path


def described(place: Path, text: str) -> Description:
    path = place / "pods.yaml"
    path.write_text(text)
    return description_of(path)


def test_a_file_describes_the_pods(tmp_path: Path) -> None:
    found = described(tmp_path, GOOD + "cpu: 8\nmemory: 8GiB\nnamespace: lab\nlifetime: 1h\nwithin: 90s\n")
    assert (found.pods, found.image, found.namespace) == (2, "registry.example/longhaul:1.0", "lab")
    assert (found.cpu, found.memory_bytes, found.lifetime_s, found.within_s) == (8, 8 << 30, 3600, 90)
    assert described(tmp_path, GOOD).python == "python3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pods: 2\n", "does not say kind: kubernetes"),
        ("- 1\n", "does not say kind: kubernetes"),
        ("kind: [\n", "is not YAML"),
        (GOOD + "podz: 2\n", 'there is no key "podz"'),
        (GOOD.replace("pods: 2", "pods: many"), "pods is not a number from 2 to 1000"),
        (GOOD.replace("pods: 2\n", ""), "pods is missing"),
        (GOOD.replace("registry.example/longhaul:1.0", ""), "image is missing"),
        (GOOD + "namespace: -oops\n", "namespace is not a name"),
        (GOOD + "memory: 8\n", "memory: "),
        (GOOD + "lifetime: 1ms\n", "lifetime is too small"),
    ],
)
def test_what_is_wrong_is_one_error_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LonghaulError) as caught:
        described(tmp_path, text)
    assert "pods.yaml" in str(caught.value)
    assert message in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code == 2


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match=r"cannot read .*none\.yaml: No such file") as caught:
        description_of(tmp_path / "none.yaml")
    assert caught.value.remedy


def test_pods_are_asked_for_awaited_and_removed(cluster: Path) -> None:
    with pods_of_run(Description(3, "image", cpu=4, python="/opt/python3")) as (pods, machines):
        job = json.loads((cluster / "job.json").read_text())
        assert job == manifest(pods.name, Description(3, "image", cpu=4))
        assert [machine.name for machine in machines] == ["pod0", "pod1", "pod2"]
        assert [machine.address for machine in machines] == ["10.0.0.0", "10.0.0.1", "10.0.0.2"]
        assert {machine.cores for machine in machines} == {4}
        words = machines[1].python_command_line("-V")
        assert Path(words[0]).name == "kubectl"
        assert words[1:] == ["exec", "--stdin", "--tty=false", f"{pods.name}-x-1", "--", "/opt/python3", "-V"]
        assert "--tty=true" in machines[1].terminal_command
    assert not (cluster / "job.json").exists()


def test_pods_that_are_kept_go_after_an_error(cluster: Path) -> None:
    with pods_of_run(Description(2, "image"), keep=True) as (pods, _machines):
        pass
    assert (cluster / "job.json").exists()
    pods.remove()
    assert not (cluster / "job.json").exists()
    with pytest.raises(KeyboardInterrupt), pods_of_run(Description(2, "image"), keep=True):
        raise KeyboardInterrupt
    assert not (cluster / "job.json").exists()


@pytest.mark.parametrize(
    ("what", "text", "message"),
    [
        ("waiting", "ImagePullBackOff: no such image", "does not start: ImagePullBackOff: no such image"),
        ("unscheduled", "0/3 nodes have 64 CPUs", "0 of 2 pods run after 1 s: 0/3 nodes have 64 CPUs"),
        ("refuses", "connection refused", "Kubernetes makes no job: connection refused"),
    ],
)
def test_pods_that_do_not_run_are_one_error_and_gone(
    cluster: Path, what: str, text: str, message: str
) -> None:
    (cluster / what).write_text(text)
    with pytest.raises(LonghaulError) as caught, pods_of_run(Description(2, "image", within_s=1)):
        pass
    assert message in str(caught.value)
    assert caught.value.exit_code == 3
    assert not (cluster / "job.json").exists()


def test_a_policy_that_forbids_pods_is_told(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cluster / "event").write_text("pods are forbidden: privileged")
    nothing: list[Any] = []
    monkeypatch.setattr(kubernetes, "_listed", lambda _pods: nothing)
    forbidden = pytest.raises(LonghaulError, match="pods are forbidden: privileged")
    with forbidden, pods_of_run(Description(2, "image", within_s=1)):
        pass


def test_without_kubectl_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes, "find_program", lambda _name: None)
    with pytest.raises(LonghaulError, match="need kubectl"), pods_of_run(Description(2, "image")):
        pass
