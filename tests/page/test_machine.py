"""This machine on the page: its checks, its calibration, and what to expect of a run."""

import re
from collections.abc import Iterator

import pytest

from longhaul.calibrate.calibration import STEPS
from longhaul.page.machine_requests import _Progress

from .served import Served, serving, until

TEXT = "version: 1\nname: t\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n" + (
    "links: {l: {endpoints: [a, b], delay: 10ms}}\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("machine")) as served:
        yield served


def test_a_check_has_the_findings_of_the_machine_and_of_the_scenario(server: Served) -> None:
    status, told = server.ask("/api/doctor", {"self_test": False})
    assert status == 200
    machine = [each["what"] for each in told["findings"]]
    assert {"kernel", "certificate"} <= set(machine)
    assert "self-test" not in machine
    status, told = server.ask("/api/doctor", {"text": TEXT, "self_test": False})
    assert [each["what"] for each in told["findings"]][len(machine) :] == ["t"]
    status, told = server.ask("/api/doctor", {"text": TEXT.replace("10ms", "10"), "self_test": False})
    assert (status, told["error"]["line"]) == (400, 5)


def test_a_preflight_says_what_to_expect(server: Served) -> None:
    told = server.ask("/api/preflight", {"text": TEXT, "mode": "sim"})[1]
    assert told["expected"] == "a > b: RTT 20 ms (10 ms each way)"
    assert server.ask("/api/preflight", {"text": "a: ["})[1]["expected"] is None


def test_a_calibration_is_a_job_that_can_be_stopped(server: Served) -> None:
    begun = server.ask("/api/calibrate", {})[1]
    assert begun["command"] == "longhaul calibrate"
    until(lambda: server.ask(f"/api/jobs/{begun['id']}")[1]["job"]["progress"])
    progress = server.ask(f"/api/jobs/{begun['id']}")[1]["job"]["progress"]
    assert (progress["done"], progress["of"]) == (0, STEPS)
    assert re.fullmatch(r"about (2 min|1\d\d s) left", progress["left_text"])
    assert server.ask("/api/calibrate", {})[0] == 409
    server.ask(f"/api/jobs/{begun['id']}/stop", {})
    until(lambda: server.ask(f"/api/jobs/{begun['id']}")[1]["job"]["state"] == "stopped")


def test_progress_counts_the_announced_steps() -> None:
    progress = _Progress()
    assert progress.read("  load 9 on 2 processors: the figures will be worse; wait ...") is None
    assert progress.read("base latency, one way   21 us") is None
    for number in range(3):
        told = progress.read("  lateness at 1 Gbit/s ...")
        assert told is not None
        assert (told["done"], told["text"]) == (number, "lateness at 1 Gbit/s")
