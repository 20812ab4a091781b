"""``longhaul transfer run``: eWAN's two services, planned and achieved."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from transferring import SCENARIO, SMALL, carried

from longhaul.cli.main import longhaul

ROOT = Path(__file__).parents[2]
REQUESTS = str(ROOT / "scenarios/transfers/two-sites-requests.yaml")


@pytest.mark.parametrize(
    ("policy", "planned"), [("fair", [(0, 8), (0, 8)]), ("serial-fcfs", [(0, 4), (4, 8)])]
)
def test_both_services_are_simulated_at_the_papers_scale(tmp_path, policy, planned):
    code, summary = carried(tmp_path, REQUESTS, "--scenario", SCENARIO, "--policy", policy, "--sim")
    first, second, archive = summary["planned_transfers"]["requests"]
    assert code == 0
    for found, (start_s, finish_s) in zip((first, second), planned, strict=True):
        # 1036 Mbit/s carry 1000.09 Mbit/s of payload: 1448 of 1500 bytes.
        assert found["planned"]["start_s"] == pytest.approx(start_s, abs=1e-6)
        assert found["planned"]["finish_s"] == pytest.approx(finish_s, rel=1e-4)
        # The last byte needs 50.05 ms more; 5 % of 4 s are 200 ms.
        late_s = found["achieved"]["finish_s"] - found["planned"]["finish_s"]
        assert 0.050 < late_s < 0.055
    # 4000 Gbit / 60 s.
    assert not archive["accepted"]
    assert "need 66.67 Gbit/s" in archive["reason"]
    assert archive["achieved"] is None


def test_a_late_deadline_is_an_exit_code(tmp_path):
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL.replace("60s", "9s"))
    scenario = tmp_path / "down.yaml"
    text = Path(SCENARIO).read_text() + "events: [{at: 3s, link: access, down: 4s}]\n"
    scenario.write_text(text)
    network = ["--set", "access=20.72Mbit", "--set", "window=260", "--set", "queue=500kB"]
    code, summary = carried(
        tmp_path, str(requests), "--scenario", str(scenario), "--policy", "serial-fcfs", "--sim", *network
    )
    found = summary["planned_transfers"]
    assert code == 1
    # 8 s of transfers, and 4 s without a link.
    assert found["requests"][1]["achieved"] is None or found["requests"][1]["achieved"]["finish_s"] > 12
    assert "lyon > core is down" in " ".join(each["what"] for each in found["decisions"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "serial-fcf"], 'there is no policy "serial-fcf"; did you mean "serial-fcfs"?'),
        (["--policy", "fair", "--with", "scp"], 'there is no transfer program "scp"'),
        (["--policy", "fair", "--command", "true {adress}"], "is not a template: 'adress'"),
        (["--policy", "fair", "--f", "0.5"], "fair has no use for f; greedy-f and window-f have"),
        (["--policy", "greedy-f", "--window", "5s"], "has no use for window; window-min and window-f have"),
        (["--policy", "greedy-f", "--f", "2"], "f is 2; a share of the greatest rate"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, arguments, message):
    with pytest.raises(Exception, match=re.escape(message)):
        carried(tmp_path, REQUESTS, "--scenario", SCENARIO, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "fair", "--sim", "--with", "rsync"], "--with is about live transfers"),
        (["--policy", "fair", "--sim", "--pacing", "user"], "--pacing is about live transfers"),
        (["--policy", "fair", "--with", "rsync", "--command", "true"], "leave one out"),
        (["--policy", "fair", "--server", "true"], "--server is for --command"),
        (["--policy", "fair", "--with", "iperf3", "--pacing", "user"], "--pacing is about our own sender"),
    ],
)
def test_what_would_do_nothing_is_refused(tmp_path, arguments, message):
    runs = ["--scenario", SCENARIO, "--runs", str(tmp_path / "runs")]
    result = CliRunner().invoke(longhaul, ["transfer", "run", REQUESTS, *runs, *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "runs").exists()


def test_ends_that_are_routers_are_refused(tmp_path):
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL.replace("src1", "lyon"))
    with pytest.raises(Exception, match="request r1: lyon is a router; name a host"):
        carried(tmp_path, str(requests), "--scenario", SCENARIO, "--policy", "fair", "--sim")


def test_the_guide_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    text = (ROOT / "docs/how-to/transfers.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines()[-1:]:
            result = CliRunner().invoke(longhaul, shlex.split(line)[1:])
            assert result.exit_code == 0, result.output
            assert "refused" in result.output or "not satisfied: archive" in result.output
