"""Files and names that a scenario gives to a host: there for all that runs in it, gone with the run."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from guides import run_commands

import longhaul
from longhaul.errors import LonghaulError
from longhaul.run import rerun

pytestmark = [pytest.mark.waiting, pytest.mark.usefixtures("private_directories")]

ROOT = Path(__file__).parents[2]
SCENARIO = """
version: 1
name: files
duration: 20s
ISOLATION
nodes:
  r: {kind: router}
  a:
    kind: host
    attach: r
    hostname: db.example.org
    files:
      /etc/passwd: users
      /etc/lh-test.conf: conf/one.conf
      /etc/lh-test.d/two.conf: conf/two.conf
      /usr/local/bin/lh-test: tool.sh
      /etc/hosts.lh: conf/one.conf
  b: {kind: host, attach: r}
traffic:
  ping: {kind: ping, from: b, to: a, every: 1s, count: 2}
"""


def scenario(folder: Path, text: str = SCENARIO, isolation: str = "") -> Path:
    """A scenario with its files beside it."""
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "users").write_text("root:x:0:0:a user of the host:/root:/bin/sh\n")
    (folder / "conf/one.conf").write_text("one\n")
    (folder / "conf/two.conf").write_text("two\n")
    (folder / "tool.sh").write_text("#!/bin/sh\necho tool of $(hostname)\n")
    path = folder / "files.yaml"
    path.write_text(text.replace("ISOLATION", isolation))
    return path


def said(network: longhaul.Network, host: str, *words: str) -> str:
    return network.run(host, words, check=False).stdout


@pytest.fixture(params=["", "isolation: none"])
def network(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[longhaul.Network]:
    with longhaul.up(scenario(tmp_path, isolation=request.param), runs=tmp_path / "runs") as up:
        yield up


def test_a_host_has_its_files_and_the_others_have_the_machines(network: longhaul.Network) -> None:
    assert "a user of the host" in said(network, "a", "cat", "/etc/passwd")
    assert said(network, "b", "cat", "/etc/passwd") == Path("/etc/passwd").read_text()
    assert said(network, "a", "cat", "/etc/lh-test.conf", "/etc/lh-test.d/two.conf") == "one\ntwo\n"
    assert said(network, "a", "lh-test") == "tool of db.example.org\n"
    assert said(network, "b", "sh", "-c", "ls /etc/lh-test.conf /usr/local/bin/lh-test") == ""
    # What is beside an added file is what the machine has, and what the run mounted there is still mounted.
    names = set(said(network, "a", "ls", "-A", "/etc").split())
    assert names - set(os.listdir("/etc")) == {"lh-test.conf", "lh-test.d", "hosts.lh"}
    assert set(os.listdir("/etc")) <= names
    assert " a db.example.org\n" in said(network, "a", "cat", "/etc/hosts")
    assert not any(Path(each).exists() for each in ("/etc/lh-test.conf", "/etc/lh-test.d", "/etc/hosts.lh"))


def test_a_host_name_is_the_hosts_own_and_known_to_all(network: longhaul.Network) -> None:
    assert said(network, "a", "hostname") == "db.example.org\n"
    assert said(network, "a", "cat", "/etc/hostname") == "db.example.org\n"
    assert said(network, "a", "sh", "-c", "echo $LONGHAUL_HOST $HOSTNAME") == "a db.example.org\n"
    assert said(network, "b", "hostname") == "b\n"
    assert "1 received" in said(network, "b", "ping", "-n", "-c", "1", "db.example.org")
    agent = "\"$LONGHAUL_AGENT\" a 'cat /etc/lh-test.conf; echo $HOSTNAME'"
    assert said(network, "b", "sh", "-c", agent) == "one\ndb.example.org\n"


@pytest.mark.parametrize("place", ["/etc/passwd", "/etc/lh-test.conf", "/etc/lh-test.d/two.conf"])
def test_a_host_cannot_write_its_files(network: longhaul.Network, place: str) -> None:
    before = Path("/etc/passwd").read_text()
    refused = network.run("a", ["sh", "-c", f"echo x > {place}"], check=False)
    assert "Read-only file system" in refused.stderr
    assert Path("/etc/passwd").read_text() == before


def test_the_record_of_a_run_has_the_files_and_repeats_with_them(tmp_path: Path) -> None:
    programs = "programs: {tool: {run: lh-test, host: a}}"
    path = scenario(tmp_path, SCENARIO.replace("duration: 20s", programs))
    first = longhaul.run_live(path, runs=tmp_path / "runs")
    record = json.loads((first.directory / "run.json").read_text())
    hashes = {hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("users", "tool.sh")}
    assert hashes <= set(record["inputs"].values())
    assert set(record["files"]) == {"users", "conf/one.conf", "conf/two.conf", "tool.sh"}
    for name in record["files"]:
        (tmp_path / name).unlink()
    again = rerun.rerun(rerun.recorded(first.directory), runs=tmp_path / "again").directory
    assert (again / "logs/tool.out").read_text() == "tool of db.example.org\n"
    assert json.loads((again / "run.json").read_text())["variant"] == record["variant"]


def test_a_simulation_ignores_them(tmp_path: Path) -> None:
    path = scenario(tmp_path, SCENARIO.replace("/etc/passwd: users", "/srv/no-such/passwd: users"))
    assert longhaul.run_sim(path, runs=tmp_path / "runs").directory.is_dir()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "/srv/no-such/x.conf",
            r"files.yaml:13:\d+: .* does not exist on this machine, and hosts write to /srv",
        ),
        ("/etc/ssl", r"files.yaml:13:\d+: .*/etc/ssl is not a file on this machine; name a file"),
        ("/etc/passwd-/x", r"files.yaml:13:\d+: .*/etc/passwd- is not a directory on this machine"),
    ],
)
def test_a_file_that_has_no_place_here_is_refused_with_its_line(
    tmp_path: Path, target: str, message: str
) -> None:
    if target.startswith("/etc/passwd-") and not Path("/etc/passwd-").exists():
        pytest.skip("this machine has no /etc/passwd-")
    path = scenario(tmp_path, SCENARIO.replace("/etc/passwd:", f"{target}:"))
    with pytest.raises(LonghaulError) as caught:
        longhaul.run_live(path, runs=tmp_path / "runs")
    assert re.search(message, str(caught.value))
    assert caught.value.exit_code == 3
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the guide uses curl")
def test_the_commands_of_the_guide_serve_two_sites(tmp_path: Path) -> None:
    printed = run_commands("host-files.md", "site", tmp_path)
    for line in ("hello from nyc.example.org", "bonjour from par.example.org", "greeting=bonjour"):
        assert line in printed
