"""What ``longhaul clean`` removes: what processes left that have ended, and nothing of those that run."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from installed_kernels import installed

from longhaul.results import directory
from longhaul.run import cleanup, groups, sockets
from longhaul.subprocesses import python_command


@pytest.fixture
def zombie() -> Iterator[int]:
    """A process that has ended and that nobody has waited for."""
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield process.pid
    process.wait()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories, sockets and certificates are; no control groups."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(groups, "_mounts", list)
    return tmp_path


def test_a_process_that_is_a_zombie_holds_nothing(place: Path, zombie: int) -> None:
    left, ours = (place / f"longhaul-transfers-{pid}-x" for pid in (zombie, os.getpid()))
    left.mkdir()
    ours.mkdir()
    sent = sockets.state_directory() / f"sent-{zombie}.tmp"
    sent.touch()
    assert set(cleanup.remove_leftovers(everything=False, runs=place / "runs")) == {
        f"removed {left}",
        f"removed {sent}",
    }
    assert not left.exists()
    assert ours.exists()


def test_a_directory_that_was_handed_over_stays_as_long_as_its_new_process(place: Path, zombie: int) -> None:
    kept, left = (place / f"longhaul-kernels-{pid}-x" for pid in (zombie, os.getpid()))
    for path, pid in ((kept, os.getpid()), (left, zombie)):
        path.mkdir()
        cleanup.hand_over(path, pid)
    assert list(cleanup.remove_leftovers(everything=False, runs=place / "runs")) == [f"removed {left}"]
    assert kept.exists()


def test_a_network_whose_kernels_do_not_boot_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    installed(tmp_path / "cache/longhaul/kernels", "6.12.117")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "pair.yaml").write_text(
        "version: 1\nname: pair\nnodes: {near: {kind: host}, far: {kind: host}}\n"
        "links: {wan: {endpoints: [near, far], delay: 1ms}}\n"
    )
    places = {"XDG_RUNTIME_DIR": tmp_path, "TMPDIR": temporary}
    done = subprocess.run(
        [*python_command("longhaul.cli.main"), "up", "pair.yaml", "--clock", "virtual"],
        cwd=tmp_path,
        env={**os.environ, **{name: str(path) for name, path in places.items()}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (3, 70), done.stdout + done.stderr
    assert list(temporary.iterdir()) == []


def test_what_cannot_be_removed_is_not_said_to_be_gone(
    place: Path, zombie: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = place / f"longhaul-transfers-{zombie}-x"
    left.mkdir()
    # As where a file in it is in use by the file system.
    monkeypatch.setattr(shutil, "rmtree", lambda _path, **_options: None)
    assert list(cleanup.remove_leftovers(everything=False, runs=place / "runs")) == [
        f"cannot remove {left}; remove it by hand"
    ]


def test_a_control_group_that_vanishes_meanwhile_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walk(root: Path) -> Iterator[tuple[Any, list[str], list[str]]]:
        yield str(root), ["longhaul-gone-1", "longhaul-here-1"], []

    here = tmp_path / "longhaul-here-1"
    here.mkdir()
    monkeypatch.setattr(groups, "_mounts", lambda: [tmp_path])
    monkeypatch.setattr(os, "walk", walk)
    assert groups.everywhere() == [here]


def test_a_lock_that_is_held_is_no_leftover(place: Path) -> None:
    with sockets.claimed("up"):
        assert sockets.leftovers() == []
    (sockets.state_directory() / "down.lock").touch()
    assert [path.name for path in sockets.leftovers()] == ["down.lock"]


SWEEPING = """
import sys
from longhaul.sweeps import tls
with tls.settings(dashboard=False), tls.Certificates() as certificates:
    print(certificates.directory, flush=True)
    sys.stdin.read()
"""


def test_directories_of_a_killed_sweep_are_removed_and_those_of_another_stay(
    place: Path,
) -> None:
    sweeps = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", SWEEPING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(place)},
        )
        assert process.stdout is not None
        certificates = Path(process.stdout.readline().rstrip("\n"))
        assert {"ca.pem", "cert.pem", "key.pem"} <= {path.name for path in certificates.iterdir()}
        (scratch,) = place.glob(f"longhaul-dask-{process.pid}-*")
        sweeps.append((process, {certificates, scratch}))
    (killed, left), (living, kept) = sweeps
    try:
        killed.kill()
        killed.wait()
        assert sorted(cleanup.remove_leftovers(everything=False, runs=place / "runs")) == sorted(
            f"removed {path}" for path in left
        )
        assert not any(path.exists() for path in left)
        assert all(path.is_dir() for path in kept)
    finally:
        living.communicate("")
    assert not any(path.exists() for path in kept)
    assert not list(place.glob("longhaul-*"))


def test_a_run_directory_that_was_being_made_is_removed_with_the_next_run_or_by_clean(
    place: Path, zombie: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = place / "runs"

    def begin(pid: int) -> Path:
        """What a process that is killed leaves of a run directory."""
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: pid)
            making = directory.created(runs / "pair", "20260101T000000Z-live-0", mode="live")
            killed.append(making)
            part = making.__enter__().part
        (part / "scenario.yaml").touch()
        return part

    killed: list[AbstractContextManager[directory.NewDirectory]] = []
    ours, left = begin(os.getpid()), begin(zombie)
    assert set(cleanup.remove_leftovers(everything=False, runs=runs)) == {f"removed {left}"}
    left = begin(zombie)
    with directory.created(runs / "pair", "20260101T000000Z-live-0", mode="live") as new:
        (new.part / "scenario.yaml").touch()
    assert not left.exists()
    assert ours.exists()
    assert [path.name for path in new.directory.iterdir()] == ["scenario.yaml"]
    assert (runs / "pair" / "latest-live").resolve() == new.directory


def test_what_others_left_beside_run_directories_stays_and_disturbs_nothing(place: Path, zombie: int) -> None:
    names = (".x.part", ".part", f".pair.other-host.{zombie}.0123abcd.part", f".pair..x.{zombie}.part")
    for name in names:
        (place / name).mkdir()
    link = place / f".latest.{zombie}.0123abcd.part"
    link.symlink_to("gone")
    with directory.created(place, "20260101T000000Z-live-0"):
        pass
    assert {path.name for path in place.glob(".*")} == set(names)


def test_two_run_directories_of_one_second_are_two(place: Path) -> None:
    made = []
    for _ in range(2):
        with directory.created(place, "20260101T000000Z-live-0") as new:
            (new.part / "scenario.yaml").touch()
        made.append(new.directory.name)
    assert made == ["20260101T000000Z-live-0", "20260101T000000Z-live-0-1"]
