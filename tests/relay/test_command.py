"""``longhaul relay`` and ``longhaul relay paths``: what they say to what is wrong."""

import subprocess
from pathlib import Path

import forked
import pytest

from .scenarios import HEAD, THREE

ROOT = Path(__file__).parents[2]


def call(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return forked.longhaul(*arguments, cwd=folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["relay", "serve"], "neither a scenario nor a forward; write longhaul relay SCENARIO"),
        (["relay", "--delay", "1ms"], "the relay would accept no connections; add --forward"),
        (["relay", "t.yaml", "--delay", "1ms"], "the scenario defines its own links and forwards"),
        (["relay", "--forward", "8080"], '"8080" is not a forward; write LISTEN=TARGET'),
        (["relay", "--forward", "8080=web:80"], 'no cluster names "web"; write its address'),
        (["relay", "--forward", "99999=1.2.3.4:80"], '"127.0.0.1:99999" is not HOST:PORT'),
        (["relay", "--delay", "5", "--socks", "127.0.0.1:0"], '"5" has no unit; write "5ms" or "5s"'),
        (["relay", "--socks", "localhost:0"], '"localhost" is not an IP address'),
        (["relay", "t.yaml", "--for", "10"], 'has no unit; write "10ms" or "10s"'),
        (["relay", "t.yaml", "--gateway", "a"], "leave --gateway out, or write gateways: apart"),
        (["relay", "plain.yaml"], "plain.yaml has no section relay; add relay:"),
        (["relay", "none.yaml"], "none.yaml"),
        (["relay", "paths", "t.yaml", "--node", "n111"], 'did you mean "n11"?'),
        (["relay", "paths", "t.yaml", "--mpi", "--ports", "9-1"], "write for example 20000-20999"),
        (["run", "t.yaml"], "has no hosts, but a relay; run it with longhaul relay t.yaml"),
    ],
)
def test_what_is_wrong_has_one_line_and_exit_code_2(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "t.yaml").write_text(HEAD + THREE)
    (tmp_path / "plain.yaml").write_text(HEAD)
    done = call(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_help_teaches_by_examples(tmp_path: Path) -> None:
    for words in (["relay"], ["relay", "--help"], ["relay", "serve", "-h"], ["relay", "paths", "--help"]):
        done = call(*words, folder=tmp_path)
        assert "longhaul relay" in done.stdout
        assert "scenarios/relay.yaml" in done.stdout


def test_check_and_show_know_a_scenario_without_hosts(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(HEAD + THREE)
    assert "good (hosts: 0, links: 3)" in call("check", "t.yaml", folder=tmp_path).stdout
    assert call("show", "t.yaml", folder=tmp_path).returncode == 0


def test_a_relay_without_its_record_has_no_report(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"clusters": []}')
    done = call("report", str(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert "that of a relay, without the run.json" in done.stderr
