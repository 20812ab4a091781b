"""``longhaul transfer``: requests in, a plan and its pictures out."""

import json
import re
import shlex

import pytest
from click.testing import CliRunner

from longhaul.cli.main import longhaul
from longhaul.transfers.plan.policies import POLICIES

from .conftest import ROOT

REQUESTS = """version: 1
points: {lan: 1Gbit, sink1: 1Gbit, sink2: 1Gbit}
requests:
  r1: {from: lan, to: sink1, volume: 500MB, deadline: 60s}
  r2: {from: lan, to: sink2, volume: 500MB, deadline: 60s}
  huge: {from: lan, to: sink2, volume: 500GB, deadline: 60s}
"""


@pytest.fixture
def requests(tmp_path):
    path = tmp_path / "requests.yaml"
    path.write_text(REQUESTS)
    return path


def call(*arguments):
    result = CliRunner().invoke(longhaul, ["transfer", *map(str, arguments)])
    assert result.exception is None, result.exception
    return result.stdout


@pytest.mark.parametrize(("policy", "finishes"), [("fair", [8, 8]), ("serial-fcfs", [4, 8])])
def test_a_plan_is_told_as_json(requests, policy, finishes):
    told = json.loads(call("plan", requests, "--policy", policy, "--json"))
    # 4 Gbit on 1 Gbit/s: half of it for 8 s each, or all of it for 4 s each.
    assert [each["finish_s"] for each in told["requests"]] == [*map(pytest.approx, finishes), None]
    assert [each["satisfied"] for each in told["requests"]] == [True, True, False]
    assert told["measures"]["accept_rate"] == pytest.approx(2 / 3)


def test_a_plan_is_told_as_a_table(requests):
    told = call("plan", requests, "--policy", "serial-fcfs")
    assert "r2       lan > sink2  500 MB    4 s     8 s  1 Gbit/s" in told
    assert (
        "not satisfied: huge: 500 GB from 0 s to 60 s need 66.67 Gbit/s, but lan in carries 1 Gbit/s" in told
    )
    assert "2 of 3 requests satisfied; longest transfer (f1) 4 s" in told


def test_a_plan_is_written_with_its_pictures(requests, tmp_path):
    call("plan", requests, "--policy", "linear", "-o", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert told["congestion"] == pytest.approx(8 / 60, rel=1e-6)
    for name in ("gantt.svg", "loads.svg"):
        assert "linear" in (tmp_path / "out" / name).read_text()


def test_generated_requests_can_be_planned(tmp_path):
    path = tmp_path / "random.yaml"
    call("generate", "--seed", 1, "--count", 20, "--max-rate", "80Mbit", "1Gbit", "--out", path)
    told = json.loads(call("plan", path, "--policy", "greedy-min", "--json"))
    assert len(told["requests"]) == 20
    # No window is too short: each refusal is for want of room.
    assert all("do not fit" in each["reason"] for each in told["requests"] if not each["satisfied"])


def test_all_policies_are_listed():
    listed = [line.split()[0] for line in call("policies").splitlines() if line[:1].strip()]
    assert listed == list(POLICIES)


def test_a_policy_that_is_not_known_is_named_with_the_nearest(requests):
    result = CliRunner().invoke(longhaul, ["transfer", "plan", str(requests), "--policy", "serial-edff"])
    assert str(result.exception) == 'there is no policy "serial-edff"; did you mean "serial-edf"?'


def test_the_guide_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/how-to/transfers-planning.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _block in blocks] == ["yaml", "sh", "sh", "python"]
    (tmp_path / "requests.yaml").write_text(blocks[0][1])
    for line in (blocks[1][1] + blocks[2][1]).splitlines():
        name, group, *arguments = shlex.split(line)
        assert (name, group) == ("longhaul", "transfer")
        call(*arguments)
    exec(blocks[3][1], {})
    assert capsys.readouterr().out.splitlines() == ["raw True 0.0 4.0", "4.0"]
