"""Root directories, users and capabilities of hosts."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from guides import run_commands
from image_layouts import Entry, layout

import longhaul
from longhaul import _longhaul
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find as find_kernel
from longhaul.run.check import examine
from longhaul.run.virtual_clock import Clock
from longhaul.scenario import load_scenario

pytestmark = [pytest.mark.waiting, pytest.mark.usefixtures("private_directories")]

BUSYBOX = shutil.which("busybox")
MMDEBSTRAP = shutil.which("mmdebstrap")
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
COMMANDS = (
    "sh",
    "cat",
    "ls",
    "id",
    "echo",
    "hostname",
    "ping",
    "touch",
    "rm",
    "mkdir",
    "grep",
    "sleep",
    "mount",
)
SCENARIO = """
version: 1
name: roots
duration: 60s
nodes:
  r: {kind: router}
  a: {kind: host, attach: r, rootfs: root, hostname: inside, files: {/etc/motd: motd}, MORE}
  c: {kind: host, attach: r, rootfs: root}
  b: {kind: host, attach: r}
"""
needs_busybox = pytest.mark.skipif(BUSYBOX is None, reason="needs busybox-static")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small system of busybox alone."""
    if BUSYBOX is None or "statically linked" not in subprocess.run(
        ["file", "-L", BUSYBOX], capture_output=True, text=True, check=False
    ).stdout.replace("static-pie linked", "statically linked"):
        pytest.skip("needs busybox-static")
    place = tmp_path / "root"
    for each in ("bin", "etc", "tmp", "proc"):
        (place / each).mkdir(parents=True)
    (place / "tmp").chmod(0o1777)
    shutil.copy(BUSYBOX, place / "bin/busybox")
    for each in COMMANDS:
        (place / "bin" / each).symlink_to("busybox")
    (place / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nweb:x:4321:4322::/:/bin/sh\n")
    (place / "etc/group").write_text("root:x:0:\nweb:x:4322:\nextra:x:4323:web\n")
    (place / "etc/resolv.conf").symlink_to("../run/nowhere")
    (tmp_path / "motd").write_text("welcome\n")
    return place


def scenario(folder: Path, more: str = "", text: str = SCENARIO) -> Path:
    path = folder / "roots.yaml"
    path.write_text(text.replace(", MORE", f", {more}" if more else ""))
    return path


@pytest.fixture
def network(root: Path, tmp_path: Path) -> Iterator[longhaul.Network]:
    assert root
    with longhaul.up(scenario(tmp_path), runs=tmp_path / "runs") as up:
        yield up


def said(network: longhaul.Network, host: str, command: str) -> str:
    return network.run(host, ["sh", "-c", command], check=False).stdout


def state_of(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))


def test_a_host_has_the_files_of_its_root_and_the_names_of_the_run(network: longhaul.Network) -> None:
    assert set(said(network, "a", "ls /").split()) >= {"bin", "etc", "proc", "sys", "dev", "tmp"}
    assert said(network, "a", "ls /usr/bin") == ""
    assert said(network, "a", "hostname; cat /etc/hostname /etc/motd") == "inside\ninside\nwelcome\n"
    assert " a inside\n" in said(network, "a", "cat /etc/hosts")
    assert "1 packets received" in said(network, "a", "ping -c 1 b")
    assert "1 received" in said(network, "b", "ping -n -c 1 inside")
    assert said(network, "a", "echo x > /dev/null; ls -d /proc/1 /sys/class/net/eth0") != ""
    # Of the run's processes, and not those of the machine.
    assert f"/proc/{os.getpid()}\n" not in said(network, "a", "ls -d /proc/[0-9]*")
    assert said(network, "b", "$LONGHAUL_AGENT a 'cat /etc/motd'") == "welcome\n"


def test_what_a_host_writes_is_its_own_and_leaves_its_root_unchanged(
    network: longhaul.Network, root: Path
) -> None:
    before = state_of(root)
    assert (
        said(network, "a", "echo mine > /tmp/x; echo all > /etc/group; rm /bin/grep; cat /tmp/x") == "mine\n"
    )
    assert said(network, "a", "ls /bin/grep; ls /tmp/x") == "/tmp/x\n"
    assert said(network, "c", "ls /bin/grep; ls /tmp/x; cat /etc/group") == f"/bin/grep\n{GROUP}"
    assert state_of(root) == before
    assert "Read-only" in network.run("a", ["sh", "-c", "echo x > /etc/motd"], check=False).stderr


GROUP = "root:x:0:\nweb:x:4322:\nextra:x:4323:web\n"


def test_the_run_keeps_what_a_host_wrote_if_asked(root: Path, tmp_path: Path) -> None:
    text = scenario(tmp_path, "keep_files: true").read_text().replace("duration: 60s\n", "")
    path = tmp_path / "roots.yaml"
    path.write_text(
        f"{text}programs:\n  p: {{run: [sh, -c, 'echo kept > /tmp/result; rm /bin/rm'], host: a}}\n"
    )
    before = state_of(root)
    result = longhaul.run_live(path, runs=tmp_path / "runs")
    assert (result.directory / "host-files/a/tmp/result").read_text() == "kept\n"
    assert not (result.directory / "host-files/c").exists()
    assert state_of(root) == before
    assert not list((result.directory / "raw/hosts.d").glob("*/upper"))


def test_programs_are_a_user_of_the_host(root: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's run has one user")
    assert root
    with longhaul.up(scenario(tmp_path, "user: web"), runs=tmp_path / "runs") as network:
        expected = "uid=4321(web) gid=4322(web) groups=4323(extra)"
        assert expected in said(network, "a", "id").replace("groups=4322(web),", "groups=")
        assert said(network, "c", "id").startswith("uid=0(root)")
        assert "CapEff:\t0000000000000000" in said(network, "a", "cat /proc/self/status")
        assert "uid=4321" in said(network, "b", "$LONGHAUL_AGENT a id")
    with longhaul.up(scenario(tmp_path, "user: 1234"), runs=tmp_path / "runs") as network:
        assert "uid=1234 gid=1234" in said(network, "a", "id")


@pytest.mark.parametrize("user", ["", ", user: web"])
def test_programs_have_the_capabilities_in_the_list_and_no_others(
    root: Path, tmp_path: Path, user: str
) -> None:
    if os.geteuid() != 0 and user:
        pytest.skip("an ordinary user's run has one user")
    assert root
    path = scenario(tmp_path, f"capabilities: [NET_RAW, NET_BIND_SERVICE]{user}")
    mask = f"{1 << 13 | 1 << 10:016x}"
    with longhaul.up(path, runs=tmp_path / "runs") as network:
        status = said(network, "a", "cat /proc/self/status")
        assert f"CapEff:\t{mask}" in status
        assert f"CapBnd:\t{mask}" in status
        assert "1 packets received" in said(network, "a", "ping -c 1 b")
        assert f"CapEff:\t{mask}" not in said(network, "c", "cat /proc/self/status")


def test_a_capability_that_isolation_takes_away_is_refused_with_its_place(root: Path, tmp_path: Path) -> None:
    assert root
    message = r"roots.yaml:7:\d+: .*isolation: strict takes SYS_TIME from all programs; leave it out"
    with pytest.raises(LonghaulError, match=message):
        longhaul.run_live(scenario(tmp_path, "capabilities: [SYS_TIME]"), runs=tmp_path / "runs")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("rootfs: no-such", r"roots.yaml:7:\d+: .* is not there; make it, for example: mmdebstrap"),
        ("rootfs: motd", r"roots.yaml:7:\d+: .* is not a directory; make it"),
        ("rootfs: empty", r"roots.yaml:7:\d+: .* is empty; name a directory with the files of a system"),
    ],
)
def test_a_root_that_is_none_is_refused_with_its_place(tmp_path: Path, more: str, message: str) -> None:
    (tmp_path / "motd").write_text("welcome\n")
    (tmp_path / "empty").mkdir()
    text = SCENARIO.replace("rootfs: root", more, 1).replace(
        "  c: {kind: host, attach: r, rootfs: root}\n", ""
    )
    with pytest.raises(LonghaulError, match=message):
        longhaul.run_live(scenario(tmp_path, text=text), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_user_that_the_host_does_not_know_is_refused_with_its_place_and_leaves_nothing(
    root: Path, tmp_path: Path
) -> None:
    assert root
    with pytest.raises(
        LonghaulError, match=r"roots.yaml:7:\d+: .*root/etc/passwd has no user ghost; write one"
    ):
        longhaul.up(scenario(tmp_path, "user: ghost"), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


@pytest.mark.skipif(
    MMDEBSTRAP is None or not SOURCES.exists(), reason="needs mmdebstrap and Debian's sources"
)
@pytest.mark.skipif(os.geteuid() != 0, reason="root makes the root directory")
def test_a_debian_of_its_own_is_a_host(tmp_path: Path) -> None:
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )["VERSION_CODENAME"]
    made = subprocess.run(
        ["mmdebstrap", "--variant=minbase", release, str(tmp_path / "root"), str(SOURCES)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        pytest.skip(f"no Debian can be made here: {made.stderr.splitlines()[-1:]}")
    (tmp_path / "motd").write_text("welcome\n")
    with longhaul.up(scenario(tmp_path, "user: www-data"), runs=tmp_path / "runs") as network:
        assert "dpkg" in said(network, "c", "dpkg-query --show --showformat '${Package} ' dpkg")
        assert said(network, "a", "id -un; cat /etc/motd") == "www-data\nwelcome\n"
        assert said(network, "c", "echo x > /etc/new && cat /etc/new") == "x\n"
    assert not (tmp_path / "root/etc/new").exists()


@needs_busybox
@pytest.mark.skipif(shutil.which("curl") is None, reason="the guide uses curl")
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's run has one user")
def test_the_commands_of_the_guide_run_a_system_of_busybox(root: Path, tmp_path: Path) -> None:
    assert root, "busybox is static"
    require_limits()
    assert run_commands("host-files.md", "small", tmp_path).endswith("a small page\ndone\n")


def require_limits() -> None:
    try:
        _longhaul.check_limits(cpu=False, memory=True)
    except _longhaul.LiveError as error:
        pytest.skip(str(error))


@pytest.fixture
def image(root: Path, tmp_path: Path) -> Iterator[str]:
    """An image of two layers in podman's store, the second of which removes a file of the first."""
    if shutil.which("podman") is None:
        pytest.skip("needs podman")
    name = f"localhost/lh-test-roots-{os.getpid()}"
    (tmp_path / "Containerfile").write_text(f"FROM {name}-base\nRUN echo second > /etc/layer; rm /bin/ls\n")
    archive = subprocess.run(["tar", "-C", str(root), "-c", "."], capture_output=True, check=True)
    try:
        made = subprocess.run(
            ["podman", "import", "-", f"{name}-base"],
            input=archive.stdout,
            capture_output=True,
            check=False,
        )
        build = ["podman", "build", "--isolation", "chroot", "--network", "host", "-q", "-t", name]
        built = subprocess.run([*build, str(tmp_path)], capture_output=True, text=True, check=False)
        if made.returncode or built.returncode:
            pytest.skip(f"podman builds no images here: {built.stderr.splitlines()[-1:]}")
        yield name
    finally:
        for each in (name, f"{name}-base"):
            subprocess.run(["podman", "rmi", "-f", each], capture_output=True, check=False)


@pytest.fixture(params=["real", "virtual"])
def clock(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The virtual one where there is a kernel for it; images that it merges go into a cache of the test."""
    chosen: Clock = request.param
    if chosen == "virtual":
        try:
            built = find_kernel()
        except LonghaulError as error:
            pytest.skip(error.message)
        kernels = tmp_path / "cache/longhaul/kernels"
        kernels.parent.mkdir(parents=True)
        kernels.symlink_to(built.directory.parent)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return chosen


def test_an_image_of_podmans_store_is_a_root(image: str, clock: Clock, tmp_path: Path) -> None:
    text = SCENARIO.replace("rootfs: root", f"image: {image}")
    with longhaul.up(scenario(tmp_path, text=text), runs=tmp_path / "runs", clock=clock) as network:
        assert said(network, "a", "cat /etc/layer /etc/motd; echo x > /etc/layer") == "second\nwelcome\n"
        assert network.run("a", ["ls"], check=False).returncode == 127
        assert said(network, "c", "cat /etc/layer") == "second\n"
        assert "1 packets received" in said(network, "a", "ping -c 1 c")


def test_an_image_of_dockers_store_is_a_root(
    image: str, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker's command line answers as podman's does; here podman serves it, and saves as Docker 25 does."""
    docker = tmp_path / "bin/docker"
    docker.parent.mkdir()
    saves = tmp_path / "saves"
    docker.write_text(
        f'#!/bin/sh\n[ "$2" = save ] && echo >> {saves} &&\n'
        '  set -- "$1" "$2" --format oci-archive "$3" "$4" "$5"\n'
        f'exec {shutil.which("podman")} "$@"\n'
    )
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}:{os.environ['PATH']}")
    text = SCENARIO.replace("rootfs: root", f"image: docker-daemon:{image}")
    for _ in range(2):
        with longhaul.up(scenario(tmp_path, text=text), runs=tmp_path / "runs", clock=clock) as network:
            assert said(network, "a", "cat /etc/layer /etc/motd") == "second\nwelcome\n"
            assert network.run("a", ["ls"], check=False).returncode == 127
    # On the virtual clock it is saved once; its second host and its second run find it.
    assert (saves.read_text() if saves.exists() else "") == ("\n" if clock == "virtual" else "")
    docker.write_text("#!/bin/sh\necho 'Error: No such image: web' >&2; exit 1\n")
    with pytest.raises(
        LonghaulError, match=r"docker's store has no image \S+; list images with: docker images"
    ):
        longhaul.up(scenario(tmp_path, text=text), runs=tmp_path / "runs")
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n")
    with pytest.raises(
        LonghaulError, match="Cannot connect to the Docker daemon; list images with: docker images"
    ):
        longhaul.up(scenario(tmp_path, text=text), runs=tmp_path / "runs")
    docker.write_text("#!/bin/sh\necho '[{\"GraphDriver\": null}]'\n")
    with pytest.raises(LonghaulError, match="not directories that this user can read; docker image save"):
        longhaul.up(scenario(tmp_path, text=text), runs=tmp_path / "runs")


IMAGE_PROGRAMS = """
programs:
  as-it-is: {run: image:entrypoint, host: a}
  otherwise: {run: image:entrypoint two words, host: a, env: {COLOUR: blue}, cwd: /tmp}
  shell: {run: "sh -c 'id -un; pwd; echo $$COLOUR $$SIZE'", host: a}
"""
CONFIG = {
    "Entrypoint": ["sh", "-c", 'echo "$(id -un) $(pwd) $COLOUR $SIZE: $0 $*"'],
    "Cmd": ["default", "arguments"],
    "Env": ["COLOUR=red", "SIZE=a b"],
    "WorkingDir": "/srv/data",
    "User": "web:web",
}


def entries_of(root: Path) -> list[Entry]:
    found: list[Entry] = []
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found.append((name, os.readlink(path)))
        else:
            found.append((name, None if path.is_dir() else path.read_bytes()))
    return found


def image_scenario(folder: Path, image: str, programs: str = IMAGE_PROGRAMS) -> Path:
    text = SCENARIO.replace("rootfs: root", f"image: {image}", 1).replace(", files: {/etc/motd: motd}", "")
    text = text.replace("  c: {kind: host, attach: r, rootfs: root}\n", "").replace("duration: 60s\n", "")
    return scenario(folder, text=text + programs)


def checked(path: Path) -> None:
    """What `longhaul check` looks at."""
    examine(load_scenario(path))


def outputs(result: longhaul.Result) -> dict[str, str]:
    return {path.stem: path.read_text() for path in (result.directory / "logs").glob("*.out")}


@pytest.mark.skipif(os.geteuid() != 0, reason="other users than root need a run of root")
def test_programs_run_as_the_image_of_their_host_says(root: Path, clock: Clock, tmp_path: Path) -> None:
    layout(tmp_path / "images/web", entries_of(root), [("srv/data", None)], config=CONFIG)
    path = image_scenario(tmp_path, "oci:images/web")
    for _ in range(2):
        result = longhaul.run_live(path, runs=tmp_path / "runs", report=False, clock=clock)
        said = outputs(result)
        assert said["as-it-is"] == "web /srv/data red a b: default arguments\n"
        assert said["otherwise"] == "web /tmp blue a b: two words\n"
        assert said["shell"] == "web\n/srv/data\nred a b\n"


@needs_busybox
def test_images_of_users_that_are_unknown_are_refused_by_check(root: Path, tmp_path: Path) -> None:
    layout(tmp_path / "images/web", entries_of(root), config={"User": "nobody-there"})
    named = image_scenario(tmp_path, "oci:images/web, user: absent")
    with pytest.raises(LonghaulError, match=r"roots.yaml:6:\d+: .*image oci:images/web has no user absent"):
        checked(named)
    if os.geteuid() == 0:
        with pytest.raises(LonghaulError, match=r"6:\d+: .*image oci:images/web has no user nobody-there"):
            checked(image_scenario(tmp_path, "oci:images/web"))
    user = ", user: web" if os.geteuid() == 0 else ""
    checked(image_scenario(tmp_path, f"oci:images/web{user}"))


@pytest.mark.skipif(shutil.which("podman") is None, reason="needs podman")
def test_an_image_that_is_absent_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "motd").write_text("welcome\n")
    text = SCENARIO.replace("rootfs: root", "image: localhost/lh-no-such-image", 1)
    text = text.replace("  c: {kind: host, attach: r, rootfs: root}\n", "")
    message = (
        r"roots.yaml:7:\d+: .*podman's store has no image localhost/lh-no-such-image; "
        "list images with: podman images"
    )
    with pytest.raises(LonghaulError, match=message):
        longhaul.run_live(scenario(tmp_path, text=text), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
