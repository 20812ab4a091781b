"""A relay's run directory, secrets and ends, around an engine that only pretends."""

import errno
import json
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from longhaul import _longhaul
from longhaul.analysis.relay_delays import LATENESS_P99_NS, judge_relay
from longhaul.errors import LonghaulError
from longhaul.relay import server
from longhaul.relay.results import write_results
from longhaul.relay.server import Opened, Order, Served, serve
from longhaul.run import sockets
from longhaul.scenario import load_scenario, resolve

from .scenarios import HEAD, THREE

MESSAGES = "connection,from,to,in_ns,wanted_ns,out_ns,bytes\n0,0,1,5,18000000,18000012,1\n"
CONNECTIONS = (
    "connection,listener,from,to,client,target,opened_ns,closed_ns,bytes_forward,bytes_back,end\n"
    "0,0,a,b,127.0.0.1:4000,127.2.0.11:22,1,2,1,0,closed\n"
    "1,0,,,127.0.0.1:4001,,1,1,0,0,too many\n"
)
RESULT: dict[str, Any] = {
    "reason": "stopped",
    "duration_ns": 10**9,
    "links": [
        {
            "name": "ab",
            "way": "forward",
            "offered_pieces": 1,
            "offered_bytes": 1,
            "delivered_pieces": 1,
            "delivered_bytes": 1,
            "lost_pieces": 0,
            "overflowed_pieces": 0,
            "dropped_pieces": 0,
        }
    ],
    "connections": {"accepted": 1, "refused": 0, "failed": 0, "open_most": 1},
    "bytes": 1,
    "pieces": 100,
    "lateness_ns": {"p50": 900, "p99": 12_000, "max": 20_000},
    "log": {"rows": 1, "dropped": 0, "error": None},
    "cpu_ns": 5,
}

Engine = Callable[..., str]


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    return directory / "longhaul"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[Engine], None]:
    def replace(run: Engine) -> None:
        monkeypatch.setattr(_longhaul, "run_relay", run, raising=False)
        monkeypatch.setattr(_longhaul, "check_relay_plan", lambda _plan: None, raising=False)

    return replace


def served(tmp_path: Path, *, more: str = "", **order: Any) -> Served:
    scenario = tmp_path / "t.yaml"
    scenario.write_text(HEAD + THREE + more)
    told: list[Opened] = []
    wanted = Order(tmp_path / "runs", ["longhaul"], **order)
    return serve(resolve(load_scenario(scenario)), wanted, told=told.extend)


def pretend(**changes: Any) -> Engine:
    def run(plan: str, *, directory: str, ready: Callable[[str], None], **_rest: object) -> str:
        count = len(json.loads(plan)["listeners"])
        ready(json.dumps([{"listener": n, "address": f"127.0.0.1:{4000 + n}"} for n in range(count)]))
        raw = Path(directory) / "raw"
        (raw / "messages.csv").write_text(MESSAGES)
        (raw / "connections.csv").write_text(CONNECTIONS)
        return json.dumps({**RESULT, **changes})

    return run


def test_a_run_directory_has_what_other_runs_have(tmp_path: Path, engine: Callable[[Engine], None]) -> None:
    engine(pretend())
    done = served(tmp_path)
    assert done.directory.parent == tmp_path / "runs/t"
    assert "-relay-" in done.directory.name
    run = json.loads((done.directory / "run.json").read_text())
    assert (run["mode"], run["status"], run["seed"]) == ("relay", "stopped", 1)
    assert run["listening"][0] == "socks 127.0.0.1:4000 (a)"
    assert run["listening"][3] == "forward 127.0.0.1:4003 (a) -> 127.2.0.11:5201"
    assert (done.directory / "scenario.yaml").read_text() == HEAD + THREE
    messages = pq.read_table(done.directory / "messages.parquet").to_pylist()
    assert messages == [
        {
            "connection": 0,
            "from": "a",
            "to": "b",
            "in_ns": 5,
            "wanted_ns": 18_000_000,
            "out_ns": 18_000_012,
            "bytes": 1,
        }
    ]
    connections = pq.read_table(done.directory / "connections.parquet").to_pylist()
    assert [(each["from"], each["to"]) for each in connections] == [("a", "b"), (None, None)]
    assert pq.read_table(done.directory / "links.parquet").to_pylist() == RESULT["links"]
    summary = json.loads((done.directory / "summary.json").read_text())
    assert summary == json.loads(json.dumps(done.summary))
    assert summary["fidelity"]["verdict"] == "faithful"
    assert summary["fidelity"]["lateness"] == {"p50_ns": 900, "p99_ns": 12_000, "max_ns": 20_000}
    assert done.exit_code == 0


def test_a_password_reaches_the_gateway_and_no_file(tmp_path: Path, engine: Callable[[Engine], None]) -> None:
    heard: list[str] = []

    def run(plan: str, **rest: Any) -> str:
        heard.append(json.loads(plan)["password"])
        return pretend()(plan, **rest)

    engine(run)
    (tmp_path / "word").write_text("a secret\nignored\n")
    done = served(tmp_path, more="  password_file: word\n")
    assert heard == ["a secret"]
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if b"a secret" in path.read_bytes()]
    assert json.loads((done.directory / "plan.json").read_text())["password"] is None


@pytest.mark.parametrize(
    ("content", "message"), [(None, "No such file"), (b"", "has 0 bytes"), (b"x" * 256, "256 bytes")]
)
def test_a_bad_password_file_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "word").write_bytes(content)
    with pytest.raises(LonghaulError, match=message):
        served(tmp_path, more="  password_file: word\n")


def test_the_token_is_private_while_it_runs_and_gone_afterwards(
    tmp_path: Path, runtime: Path, engine: Callable[[Engine], None]
) -> None:
    seen: list[tuple[str, str, int]] = []

    def run(plan: str, *, socket: str, token: str, **rest: Any) -> str:
        place = Path(socket).with_suffix(".token")
        seen.append((token, place.read_text(), place.stat().st_mode & 0o777))
        assert sockets.token_of(Path(socket)) == token
        return pretend()(plan, **rest)

    engine(run)
    served(tmp_path, name="mine")
    ((token, written, mode),) = seen
    assert token == written
    assert len(bytes.fromhex(token)) == 32
    assert mode == 0o600
    assert list(runtime.iterdir()) == []


def test_a_signal_wakes_the_gateway_and_ends_an_unlimited_relay_well(
    tmp_path: Path, engine: Callable[[Engine], None]
) -> None:
    def run(plan: str, *, stop: int, **rest: Any) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        readable, _, _ = select.select([stop], [], [], 5)
        assert readable == [stop]
        return pretend()(plan, **rest)

    engine(run)
    before = signal.getsignal(signal.SIGINT)
    assert served(tmp_path).exit_code == 0
    early = served(tmp_path, duration_ns=10**12)
    assert early.exit_code == 130
    assert early.summary["ended"] == "interrupted"
    assert signal.getsignal(signal.SIGINT) is before


def test_the_same_interrupt_that_comes_again_leaves_the_results(
    tmp_path: Path, engine: Callable[[Engine], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(plan: str, **rest: Any) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return pretend()(plan, **rest)

    def write(directory: Path) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return write_results(directory)

    engine(run)
    monkeypatch.setattr(server, "write_results", write)
    assert served(tmp_path).summary["ended"] == "stopped"
    # Another one, later, is of somebody who does not want to wait.
    monkeypatch.setattr(server, "_ONE_INTERRUPT_S", 0.0)
    with pytest.raises(KeyboardInterrupt, match="SIGINT"):
        served(tmp_path)


def test_a_relay_says_where_its_run_directory_is_whatever_the_working_directory(
    tmp_path: Path, engine: Callable[[Engine], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def run(plan: str, *, directory: str, **rest: Any) -> str:
        seen.append(directory)
        return pretend()(plan, directory=directory, **rest)

    engine(run)
    monkeypatch.chdir(tmp_path)
    found = served(Path())
    assert seen == [str(tmp_path.resolve() / found.directory)]


def test_what_the_machine_cannot_do_is_one_line_and_leaves_nothing_up(
    tmp_path: Path, runtime: Path, engine: Callable[[Engine], None]
) -> None:
    def run(_plan: str, **_rest: object) -> str:
        raise OSError(errno.EADDRINUSE, "cannot listen at 127.1.0.1:1080: address in use")

    engine(run)
    with pytest.raises(LonghaulError, match="address in use") as caught:
        served(tmp_path)
    assert caught.value.exit_code == 3
    assert list(runtime.iterdir()) == []
    run_json = json.loads((tmp_path / "runs/t/latest/run.json").read_text())
    assert run_json["status"] == "failed"


@pytest.mark.parametrize(
    ("changes", "verdict", "code"),
    [
        ({}, "faithful", 0),
        ({"lateness_ns": {"p50": 1, "p99": LATENESS_P99_NS, "max": 10**9}}, "faithful", 0),
        ({"lateness_ns": {"p50": 1, "p99": LATENESS_P99_NS + 1, "max": 10**9}}, "degraded", 0),
        ({"lateness_ns": {"p90": 1, "p99": 10**9, "max": 10**9}, "pieces": 99}, "faithful", 0),
        ({"lateness_ns": {"p90": 10**9, "p99": 10**9, "max": 10**9}, "pieces": 99}, "degraded", 0),
        ({"log": {"rows": 1, "dropped": 3, "error": None}}, "degraded", 0),
        ({"log": {"rows": 1, "dropped": 0, "error": "no space left"}}, "invalid", 4),
        ({"connections": {"accepted": 100, "refused": 2}}, "degraded", 0),
        ({"connections": {"accepted": 1000, "refused": 2}}, "faithful", 0),
    ],
)
def test_verdicts_and_exit_codes(
    tmp_path: Path, engine: Callable[[Engine], None], changes: dict[str, Any], verdict: str, code: int
) -> None:
    engine(pretend(**changes))
    done = served(tmp_path)
    assert (done.summary["fidelity"]["verdict"], done.exit_code) == (verdict, code)


def test_no_result_is_invalid() -> None:
    assert judge_relay(None).verdict == "invalid"


def test_expectations_of_fidelity_are_judged_and_others_said_to_be_unmeasured(
    tmp_path: Path, engine: Callable[[Engine], None]
) -> None:
    engine(pretend())
    more = """
expect:
  - {metric: fidelity.lateness.p99, max: 1us}
  - {metric: links.ab.forward.loss, max: 1%}
"""
    done = served(tmp_path, more=more)
    assert [each["met"] for each in done.summary["expectations"]] == [False, False]
    assert 'nothing measured "links.ab.forward.loss"' in done.summary["expectations"][1]["why"]
    assert done.exit_code == 1
