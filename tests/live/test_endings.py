"""However a run ends, nothing of it stays."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longhaul.calibrate import plans
from longhaul.calibrate.probe import measure
from longhaul.errors import LonghaulError
from longhaul.run import groups
from longhaul.run.session import Session, connect

pytestmark = pytest.mark.waiting

MARK = "86421"


def start(directory: Path, *, keep: bool = True) -> Session:
    """A run whose program is a process tree that can be recognised from outside."""
    tree = ["sh", "-c", f"sleep {MARK} & (setsid sleep {MARK} &) ; sleep {MARK}"]
    plan = plans.pair(programs=[plans.program("tree", 0, tree)])
    path = directory / "plan.json"
    path.write_text(json.dumps(plan))
    session = Session(path, directory, run=directory.name[-20:], keep=keep, socket_path=socket_of(directory))
    session.wait_for("started")
    return session


def socket_of(directory: Path) -> Path:
    return Path("/tmp") / f"lh-test-{os.getpid()}-{abs(hash(directory.name)) % 10**8}.sock"


def marked() -> list[int]:
    """Processes of the tree, by their command line."""
    found = subprocess.run(["pgrep", "-f", f"sleep {MARK}"], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def gone_within(seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while marked():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(autouse=True)
def nothing_before(tmp_path: Path) -> Iterator[None]:
    assert not marked()
    yield
    for pid in marked():
        os.kill(pid, signal.SIGKILL)
    socket_of(tmp_path).unlink(missing_ok=True)


def wait_for_tree() -> None:
    deadline = time.monotonic() + 5
    while len(marked()) < 3:
        assert time.monotonic() < deadline, "the process tree did not start"
        time.sleep(0.02)


def supervisor_of(directory: Path) -> int:
    line = connect(socket_of(directory))
    pid = line.peer()
    line.close()
    return pid


def runs(pid: int) -> bool:
    """Whether a process exists and is not a zombie that its new parent has yet to collect."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def test_a_stopped_run_ends_its_process_trees_and_leaves_results(tmp_path: Path) -> None:
    session = start(tmp_path)
    wait_for_tree()
    session.stop()
    session.wait_for("ended")
    assert not marked()
    assert not socket_of(tmp_path).exists()
    programs = json.loads((tmp_path / "raw" / "programs.json").read_text())
    assert programs[0]["stopped_by_run"]
    assert (tmp_path / "raw" / "engine.json").exists()


def test_a_service_that_ends_before_the_clock_starts_has_ended_after_it_began() -> None:
    brief = plans.program("brief", 0, ["true"]) | {"service": True}
    ears = "import socket, time; s = socket.create_server(('', 80)); time.sleep(60)"
    slow = plans.program("slow", 1, ["python3", "-c", ears], service_port=80)
    run = measure(plans.pair(programs=[brief, slow, plans.ping(count=1, interval_s=1)]))
    [found] = [each for each in run.programs if each["name"] == "brief"]
    assert found["start_ns"] < found["end_ns"] < 0


def test_a_run_ends_with_whoever_started_it(tmp_path: Path) -> None:
    session = start(tmp_path, keep=False)
    wait_for_tree()
    session.line.close()
    assert gone_within(6)
    session.wait()


@pytest.mark.parametrize("victim", ["worker", "supervisor"])
def test_killing_the_top_ends_everything(tmp_path: Path, victim: str) -> None:
    session = start(tmp_path)
    wait_for_tree()
    supervisor = supervisor_of(tmp_path)
    engines = children(supervisor)
    os.kill(supervisor if victim == "supervisor" else session._process.pid, signal.SIGKILL)
    assert gone_within(3)
    session.wait()
    time.sleep(0.1)
    assert not any(runs(pid) for pid in [supervisor, *engines])
    assert not groups.of_run(tmp_path.name[-20:])


def test_killing_the_engine_is_said_and_ends_the_run(tmp_path: Path) -> None:
    session = start(tmp_path)
    wait_for_tree()
    engine = children(supervisor_of(tmp_path))[0]
    os.kill(engine, signal.SIGKILL)
    with pytest.raises(LonghaulError, match="the engine was killed by SIGKILL"):
        list(session.events())
    assert not marked()


def test_a_program_that_cannot_run_says_why(tmp_path: Path) -> None:
    plan = plans.pair(programs=[plans.program("ghost", 0, ["/no/such/program"])])
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    session = Session(path, tmp_path, run=tmp_path.name[-20:])
    events = list(session.events())
    failed = [event for event in events if event.get("state") == "failed"]
    assert "No such file" in failed[0]["message"]


def test_a_service_that_never_listens_fails_the_run_before_its_start(tmp_path: Path) -> None:
    service = plans.program("deaf", 1, ["sleep", MARK], service_port=8080)
    service["ready"]["within_ns"] = 300_000_000
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plans.pair(programs=[service])))
    session = Session(path, tmp_path, run=tmp_path.name[-20:])
    with pytest.raises(LonghaulError, match="did not listen on TCP port 8080"):
        list(session.events())
    assert not marked()


def requests(directory: Path, *lines: bytes) -> list[dict[str, Any]]:
    line = connect(socket_of(directory))
    answers = []
    for request in lines:
        line._stream.sendall(request + b"\n")
        answer = line.hear(5.0)
        assert answer is not None
        answers.append(answer)
    line.close()
    return answers


def test_nonsense_on_the_socket_is_refused_and_harmless(tmp_path: Path) -> None:
    session = start(tmp_path)
    answers = requests(
        tmp_path,
        b"nonsense",
        b'{"do": "dance"}',
        b'{"do": "change", "link": 99, "direction": null, "change": {}}',
        b'{"do": "change", "link": 0, "direction": null, "change": {"duplicate": 7.0}}',
        b'{"do": "status"}',
    )
    assert [answer["ok"] for answer in answers] == [False, False, False, False, True]
    session.stop()
    session.wait_for("ended")
