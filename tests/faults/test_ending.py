"""How a run ended is written whatever ends it, and recognised where nobody could write it."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from longhaul import processes, storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import ending, run_record
from longhaul.results.ending import Ending

GONE = subprocess.Popen(["true"])
GONE_IDENTITY = processes.identify(GONE.pid)


def run_of(place: Path, **fields: Any) -> Path:
    """A run directory whose record has these fields."""
    (place / "raw").mkdir(exist_ok=True)
    run_record.write(place / "run.json", {"status": "running", "reason": None, **fields})
    return place


def dead() -> dict[str, Any]:
    GONE.wait()
    assert GONE_IDENTITY is not None
    return GONE_IDENTITY


def test_a_run_whose_process_lives_is_running(tmp_path: Path) -> None:
    run = run_of(tmp_path, processes={"client": dead(), "worker": processes.identify()})
    assert ending.settle(run) == Ending("running", None)


def test_a_run_whose_processes_are_gone_has_crashed_and_names_them(tmp_path: Path) -> None:
    run = run_of(tmp_path, processes={"client": dead()})
    (run / "raw" / ".engine.json.999999999.00.part").touch()
    found = ending.settle(run)
    assert found.status == "crashed"
    assert found.reason is not None
    assert f"the client (process {GONE.pid})" in found.reason
    assert run_record.read(run / "run.json")["reason"] == found.reason
    assert not list(run.rglob("*.part"))


def test_files_that_were_being_written_are_removed_wherever_they_are(tmp_path: Path) -> None:
    run = run_of(tmp_path, processes={"sweep": dead()})
    disk, open_files, written = storage.Disk(), [], {}
    for folder in ("inputs", "damaged", "parts", "runs/1/raw"):
        (run / folder).mkdir(parents=True)
        # The number alone says nothing: engines have one of their own PID namespace, which others have here.
        for writer, pid in (("dead", os.getpid()), ("alive", 999_999_999)):
            path = run / folder / f".00.parquet.{pid}.00.part"
            written[folder, writer] = path
            descriptor = disk.create(path, mode=0o600)
            if writer == "alive":
                open_files.append(descriptor)
            else:
                os.close(descriptor)
                os.utime(path, (time.time() - 100,) * 2)
    ending.settle(run)
    left = set(run.rglob("*.part"))
    assert left == {path for (_folder, writer), path in written.items() if writer == "alive"}
    for descriptor in open_files:
        os.close(descriptor)
    new, old = (run / "parts" / f".0{number}.parquet.999999999.00.part" for number in (1, 2))
    new.touch()
    old.touch()
    os.utime(old, (time.time() - 100,) * 2)
    ending.settle(run)
    in_parts = {path for path in left | {new} if path.parent.name == "parts"}
    assert set(run.rglob("*.part")) == in_parts, "a job on another machine may be writing them"


def test_where_there_is_no_lock_the_number_in_the_name_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path, processes={"client": dead()})
    made = {}
    for writer, pid in (("dead", 999_999_999), ("alive", os.getpid())):
        link, folder, file = (run / f".{name}.{pid}.0a.part" for name in ("latest", "folder.host", "file"))
        link.symlink_to("gone")
        (folder / "raw").mkdir(parents=True)
        file.touch()
        made[writer] = {link, folder, file}

    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    ending.settle(run)
    assert set(run.glob(".*.part")) == made["alive"]


def test_a_process_with_the_number_of_another_is_not_the_other() -> None:
    ours = processes.identify()
    assert ours is not None
    assert processes.is_alive(ours)
    assert processes.is_alive({**ours, "start_ticks": ours["start_ticks"] + 1}) is False
    assert processes.is_alive({**ours, "boot_id": "an earlier one"}) is False
    assert processes.is_alive({**ours, "boot_id": "its own", "host": "elsewhere"}) is None
    assert processes.is_alive({**ours, "pid_namespace": "pid:[1]"}) is None


def test_a_run_of_before_the_machine_restarted_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, processes={"client": {**dead(), "boot_id": "an earlier one"}})
    assert ending.read(run) == Ending("crashed", "the machine stopped or was restarted while it ran")


def test_a_run_of_another_machine_is_taken_at_its_word(tmp_path: Path) -> None:
    run = run_of(tmp_path, processes={"client": {**dead(), "boot_id": "its own", "host": "elsewhere"}})
    assert ending.settle(run).is_running


def test_what_the_supervisor_wrote_last_counts_where_nobody_was_left(tmp_path: Path) -> None:
    run = run_of(tmp_path, processes={"client": dead()})
    (run / "raw" / "ended.json").write_text(
        '{"ended": "crashed", "reason": "the engine was killed by SIGKILL"}'
    )
    assert ending.settle(run) == Ending("crashed", "the engine was killed by SIGKILL")
    (run / "raw" / "ended.json").write_text('{"ended": "duration"}')
    assert ending.read(run) == Ending("crashed", "the engine was killed by SIGKILL"), "it is written once"


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (KeyboardInterrupt("SIGHUP"), Ending("interrupted", "SIGHUP")),
        (KeyboardInterrupt(), Ending("interrupted", "its user interrupted it")),
        (LonghaulError(Code.FILE_UNWRITABLE, "no room", remedy="make some"), Ending("failed", "no room")),
        (
            OSError(errno.ENOSPC, "No space left on device", "/x"),
            Ending("failed", "No space left on device: /x"),
        ),
    ],
)
def test_each_exception_is_an_ending(tmp_path: Path, error: BaseException, found: Ending) -> None:
    run = run_of(tmp_path, processes={"client": processes.identify()})
    with pytest.raises(type(error)), ending.recorded(run):
        raise error
    assert ending.read(run) == found


def test_a_defect_is_told_with_its_place(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    with pytest.raises(ZeroDivisionError), ending.recorded(run):
        print(1 / len([]))
    assert "internal error: ZeroDivisionError: division by zero, at test_ending.py:" in str(
        ending.read(run).reason
    )


def test_how_it_ended_is_written_once(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    ending.end(run, "duration")
    ending.end(run, "crashed", "too late")
    assert ending.read(run) == Ending("duration", "its duration has passed")


def test_changes_by_several_processes_are_all_kept(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    code = (
        "import sys; from pathlib import Path; from longhaul.results import run_record\n"
        "for n in range(20): run_record.update(Path(sys.argv[1]), **{f'{sys.argv[2]}{n}': n})"
    )
    at_once = [
        subprocess.Popen([sys.executable, "-c", code, str(run / "run.json"), name])
        for name in ("a", "b", "c")
    ]
    assert [each.wait() for each in at_once] == [0, 0, 0]
    assert len(run_record.read(run / "run.json")) == 2 + 3 * 20


def test_a_writer_that_is_stopped_holds_up_nobody_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_record, "_LOCKED_WITHIN_S", 0.1)
    run = run_of(tmp_path)
    code = (
        "import os, signal, sys; from pathlib import Path; from longhaul.results import run_record\n"
        "with run_record.locked(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGSTOP)"
    )
    stopped = subprocess.Popen([sys.executable, "-c", code, str(run)])
    try:
        while processes.state(stopped.pid) != "T":
            assert stopped.poll() is None
            time.sleep(0.01)
        ending.end(run, "stopped")
    finally:
        os.kill(stopped.pid, signal.SIGKILL)
        stopped.wait()
    assert ending.read(run).status == "stopped"


needs_mounts = pytest.mark.skipif(
    subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode != 0,
    reason="user namespaces are closed here",
)


@needs_mounts
def test_a_full_disk_still_has_room_for_the_reason(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from longhaul.results import ending, run_record
run = Path(sys.argv[1])
run_record.reserve(run)
run_record.write(run / "run.json", {"status": "running"})
try:
    with ending.recorded(run), open(run / "log", "wb", buffering=0) as log:
        while True:
            log.write(bytes(4096))
except OSError as error:
    print(error.strerror)
print((run / "run.json").read_text())
print(sorted(os.listdir(run)))
"""
    script = tmp_path / "full.py"
    script.write_text(code)
    mount = 'mkdir small && mount -t tmpfs -o size=256k tmpfs small && exec "$@" small'
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount, "sh", sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    first, *middle, last = done.stdout.splitlines()
    assert first == "No space left on device"
    assert json.loads("\n".join(middle)) == {"status": "failed", "reason": "No space left on device"}
    assert last == "['log', 'run.json']"
