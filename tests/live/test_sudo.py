"""Runs of an ordinary user whose processes are root's, by a real sudo."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from longhaul.subprocesses import python_command

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("sudo") is None, reason="needs root and sudo"),
]

NOBODY = 65534
SCENARIO = """
version: 1
name: SUDO_NAME
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {l: {endpoints: [a, b], delay: 10ms}}
traffic: {p: {kind: ping, from: a, to: b, every: 100ms}}
expect:
  - {metric: probes.p.b.rtt.min, min: 20ms, max: 25ms}
"""
# In a mount namespace of its own: what sudo may do, and directories of root that lead to the interpreter.
AS_NOBODY = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$SCRATCH"
mkdir "$SCRATCH/sudoers.d"
echo "nobody ALL=(ALL) $RULE" > "$SCRATCH/sudoers.d/nobody"
chmod 440 "$SCRATCH/sudoers.d/nobody"
mount --bind "$SCRATCH/sudoers.d" /etc/sudoers.d
for place in $CLOSED; do
  mkdir -p "$SCRATCH/upper$place" "$SCRATCH/work$place"
  layers="lowerdir=$place,upperdir=$SCRATCH/upper$place,workdir=$SCRATCH/work$place"
  mount -t overlay overlay -o "$layers" "$place"
  chmod 711 "$place"
done
cd "$WORK"
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""

Do = Callable[..., "subprocess.CompletedProcess[str]"]


def closed() -> list[str]:
    """Directories above the interpreter and Longhaul that others may not pass."""
    ends = [Path(sys.executable).resolve(), Path(sys.executable), Path(__file__)]
    above = {each for end in ends for each in end.parents}
    return sorted(str(each) for each in above if not each.stat().st_mode & 1)


@pytest.fixture
def work() -> "Path":
    """A directory of nobody's; those of pytest are root's."""
    place = Path(f"/tmp/longhaul-sudo-{os.getpid()}")
    place.mkdir()
    (place / "two.yaml").write_text(SCENARIO.replace("SUDO_NAME", f"sudo-{os.getpid()}"))
    (place / "runtime").mkdir(mode=0o700)
    for each in (place, place / "runtime"):
        os.chown(each, NOBODY, NOBODY)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def longhaul(work: Path, tmp_path: Path) -> Do:
    """Runs a shell script of nobody's, in which ``longhaul`` is the command line."""

    def call(script: str, rule: str = "NOPASSWD: ALL") -> "subprocess.CompletedProcess[str]":
        command = shlex.join(python_command("longhaul.cli.main"))
        environment = {
            **os.environ,
            "SCRATCH": str(tmp_path),
            "CLOSED": " ".join(closed()),
            "WORK": str(work),
            "RULE": rule,
            "HOME": str(work),
            "XDG_RUNTIME_DIR": str(work / "runtime"),
        }
        own = f'longhaul() {{ {command} "$@"; }}; {script}'
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", AS_NOBODY, "sh", "sh", "-c", own],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            start_new_session=True,
        )

    return call


def test_a_run_is_roots_and_its_results_are_the_users(longhaul: Do, work: Path) -> None:
    done = longhaul("longhaul run two.yaml --sudo && rm -r runs")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed probes.p.b.rtt.min" in done.stdout
    assert not (work / "runs").exists()


def test_a_network_that_stays_up_is_entered_changed_and_taken_down(longhaul: Do, work: Path) -> None:
    text = (work / "two.yaml").read_text()
    (work / "up.yaml").write_text(
        "\n".join(text.split("traffic")[0].splitlines()).replace("duration: 1s", "")
    )
    done = longhaul(
        "longhaul up up.yaml --sudo && longhaul exec a -- sh -c 'id -u; ping -q -c 2 -i 0.2 b | tail -1'; "
        "longhaul set l delay=20ms; longhaul status; longhaul down; pgrep -u nobody sudo"
    )

    assert "\n0\nrtt min/avg/max/mdev = 20." in done.stdout, done.stdout + done.stderr
    assert "stopped after" in done.stdout
    assert "Permission" not in done.stderr
    assert done.returncode == 1, "no process is left"


def test_without_a_terminal_a_password_is_one_error(longhaul: Do) -> None:
    done = longhaul("longhaul run two.yaml --sudo", rule="ALL")

    assert done.returncode == 3
    assert "sudo: a password is required" in done.stderr
    assert "Traceback" not in done.stderr
