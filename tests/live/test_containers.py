"""Containers as hosts: podman's, docker's command line, and the services of a compose file."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from live_ports import BESIDE, address_of, least_rtt_ms, run, scenario, started, wait_until

import longhaul
from longhaul.errors import LonghaulError

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(os.geteuid() != 0, reason="ports that are not the run's own need root"),
]

PAGE = Path(__file__).parents[2] / "docs/how-to/compose-over-an-ocean.md"
IMAGE = "localhost/longhaul-shop"
RUNTIMES = ("", 'runtime = "runc"\n')
"""Of containers.conf: the default, and one for machines with both versions of cgroups."""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A podman that starts containers, and an image with busybox, as no registry has to be asked for it."""
    if shutil.which("podman") is None or not Path("/bin/busybox").exists():
        pytest.skip("podman or busybox is not installed")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin")
    for name in ("sh", "ping", "nc", "sleep", "cat"):
        (root / "bin" / name).symlink_to("busybox")
    settings = tmp_path / "containers.conf"
    monkeypatch.setenv("CONTAINERS_CONF", str(settings))
    archive = tmp_path / "root.tar"
    run("tar", "-C", str(root), "-cf", str(archive), ".")
    errors = []
    for runtime in RUNTIMES:
        limits = 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]'
        settings.write_text(f'[containers]\n{limits}\n[engine]\ncgroup_manager = "cgroupfs"\n{runtime}')
        for words in (
            ["import", str(archive), IMAGE],
            ["run", "--rm", "--network", "none", IMAGE, "/bin/sleep", "0"],
        ):
            done = subprocess.run(["podman", *words], capture_output=True, text=True, check=False)
            if done.returncode:
                errors.append(done.stderr)
                break
        else:
            break
    else:
        pytest.skip(f"podman cannot start a container here: {errors}")
    try:
        yield
    finally:
        run("podman", "rmi", "-f", IMAGE, check=False)


@pytest.fixture
def container(engine: None) -> Iterator[str]:
    """A container with one program and no network."""
    name = f"lh-test-{os.getpid()}"
    what = ("--name", name, "--network", "none", "--cap-add", "NET_RAW", IMAGE, "/bin/sleep", "600")
    run("podman", "run", "-d", *what)
    try:
        yield name
    finally:
        run("podman", "rm", "-f", "-t", "0", name, check=False)


def test_a_container_has_an_interface_and_runs_programs_of_the_scenario(
    container: str, tmp_path: Path
) -> None:
    def within(*words: str) -> str:
        done = subprocess.run(
            ["podman", "exec", container, "/bin/busybox", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done
        return done.stdout

    before = within("ip", "address")
    with longhaul.up(scenario(tmp_path, f"podman:{container}"), runs=tmp_path / "runs") as network:
        # There was no default route: now there is one.
        assert "default dev eth0" in within("ip", "route")
        assert 20 <= least_rtt_ms(within("ping", "-c", "4", address_of(network, "b"))) < 35
        assert 20 <= least_rtt_ms(network.run("a", ["ping", "-n", "-c", "4", "-i", "0.05", "b"]).stdout) < 35
    wait_until(lambda: within("ip", "address") == before)


def test_a_run_says_that_its_container_has_stopped(container: str, tmp_path: Path) -> None:
    path = scenario(tmp_path, f"podman:{container}", BESIDE + "programs: {wait: {run: sleep 60, host: b}}\n")
    process = started(path, tmp_path)
    wait_until(lambda: "eth0" in run("podman", "exec", container, "/bin/busybox", "ip", "link"))
    run("podman", "kill", container)
    _out, errors = process.communicate(timeout=60)
    assert process.returncode in (1, 4)
    assert f"podman:{container} has stopped" in errors
    with pytest.raises(LonghaulError, match=f"podman:{container} does not run; podman start {container}"):
        longhaul.run_live(path, runs=tmp_path / "runs")


@pytest.fixture
def docker(container: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same container for docker's command line: podman serves docker's API."""
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    socket = tmp_path / "podman.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{socket}")
    with subprocess.Popen(
        ["podman", "system", "service", "-t", "0", f"unix://{socket}"], stderr=subprocess.DEVNULL
    ) as service:
        try:
            wait_until(socket.exists)
            yield container
        finally:
            service.terminate()


def test_docker_names_a_container(docker: str, tmp_path: Path) -> None:
    with longhaul.up(scenario(tmp_path, f"docker:{docker}"), runs=tmp_path / "runs") as network:
        assert 20 <= least_rtt_ms(network.run("b", ["ping", "-n", "-c", "4", "-i", "0.05", "a"]).stdout) < 35
    with pytest.raises(LonghaulError, match="docker:absent"):
        longhaul.run_live(scenario(tmp_path, "docker:absent"), runs=tmp_path / "runs")


CRICTL = """#!/usr/bin/env python3
import json, sys
pods = [
    {"id": f"{number}" * 13, "metadata": {"name": "web", "namespace": space}, "state": state}
    for number, (space, state) in enumerate(SPACES)
]
asked = dict(zip(sys.argv[2::2], sys.argv[3::2]))
if sys.argv[1] == "pods":
    space = asked.get("--namespace", "").strip("^$")
    found = [each for each in pods if space in ("", each["metadata"]["namespace"])]
    print(json.dumps({"items": found if asked["--name"] == "^web$" else []}))
elif any(each["id"] == sys.argv[-1] and each["state"] == "SANDBOX_READY" for each in pods):
    print(json.dumps({"status": {"id": sys.argv[-1]}, "info": {"pid": PID}}))
"""
"""What ``crictl pods`` and ``crictl inspectp`` print with ``--output json``, of the parts that are read."""
READY, NOT_READY = "SANDBOX_READY", "SANDBOX_NOTREADY"


@pytest.fixture
def sandbox() -> Iterator[int]:
    """A process with a network of its own, as the sandbox of a pod is."""
    with subprocess.Popen(["unshare", "--net", "sleep", "600"]) as process:
        try:
            wait_until(lambda: os.readlink(f"/proc/{process.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
            yield process.pid
        finally:
            process.kill()


@pytest.fixture
def crictl(tmp_path: Path, sandbox: int, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pods called ``web`` on this machine, by their namespaces of Kubernetes and states."""
    (place := tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

    def pods(*spaces: tuple[str, str]) -> None:
        program = place / "crictl"
        program.write_text(CRICTL.replace("SPACES", repr(spaces)).replace("PID", str(sandbox)))
        program.chmod(0o755)

    return pods


def test_a_pod_of_this_machine_is_a_host(crictl: Callable[..., None], sandbox: int, tmp_path: Path) -> None:
    # The sandbox of an earlier pod is kept for a while; another namespace has a pod of this name.
    crictl(("shop", NOT_READY), ("shop", READY), ("test", READY))
    with longhaul.up(scenario(tmp_path, "k8s:shop/web"), runs=tmp_path / "runs") as network:
        assert 20 <= least_rtt_ms(network.run("b", ["ping", "-n", "-c", "4", "-i", "0.05", "a"]).stdout) < 35
        inside = run("nsenter", "-t", str(sandbox), "-n", "ip", "-brief", "address")
        assert address_of(network, "a") in inside
    wait_until(lambda: "eth0" not in run("nsenter", "-t", str(sandbox), "-n", "ip", "link"))


@pytest.mark.parametrize(
    ("pods", "port", "message"),
    [
        ([("shop", READY)], "k8s:absent", "there is no pod absent on this machine; crictl pods lists them"),
        ([("shop", READY), ("test", READY)], "k8s:web", "several namespaces have a pod web: shop, test"),
        ([("shop", NOT_READY)], "k8s:web", "k8s:web does not run; start the pod"),
    ],
)
def test_a_pod_that_is_not_here_is_one_error_with_its_remedy(
    crictl: Callable[..., None],
    tmp_path: Path,
    pods: list[tuple[str, str]],
    port: str,
    message: str,
) -> None:
    crictl(*pods)
    with pytest.raises(LonghaulError) as refused:
        longhaul.run_live(scenario(tmp_path, port), runs=tmp_path / "runs")
    assert message in str(refused.value)
    assert refused.value.exit_code == 3


@pytest.mark.skipif(shutil.which("podman-compose") is None, reason="podman-compose is not installed")
def test_the_services_of_the_guide_are_an_ocean_apart(
    engine: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    monkeypatch.chdir(shop)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    blocks = dict(re.findall(r'^```\w+ title="(.+?)"\n(.*?)^```', PAGE.read_text(), re.MULTILINE | re.DOTALL))
    (shop / "docker-compose.yml").write_text(blocks["docker-compose.yml"])
    said = []
    try:
        for line in blocks["ocean.sh"].splitlines():
            # The guide's docker compose, by podman.
            command = line.removeprefix("# ").replace("docker compose", "podman-compose")
            command = command.replace("--containers docker", "--containers podman")
            if command.startswith("longhaul up"):
                assert (shop / "docker-compose.override.yml").exists()
            done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            said.append(done.stdout)
    finally:
        run("longhaul", "down", check=False)
        run("podman-compose", "down", "-t", "0", check=False)
        # podman-compose keeps networks, and with this one a bridge of the machine.
        run("podman", "network", "rm", "-f", "shop_default", check=False)
    printed = "".join(said)
    (rtt,) = re.findall(r"round-trip min/avg/max = ([\d.]+)", printed)
    assert 80 <= float(rtt) < 95
    assert "\nan order" in printed
    (summary,) = shop.glob("runs/*/2*/summary.json")
    links = {(each["name"], each["way"]): each for each in json.loads(summary.read_text())["links"]}
    assert links["db-default-network", "forward"]["packets"]["delivered"] > 3
