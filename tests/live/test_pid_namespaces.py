"""Hosts with their own PID namespace."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from guides import run_commands

import longhaul
from longhaul.errors import LonghaulError

pytestmark = [pytest.mark.waiting, pytest.mark.usefixtures("private_directories")]

SCENARIO = """
version: 1
name: own
nodes:
  r: {kind: router}
  own: {kind: host, attach: r, pid_namespace: true}
  other: {kind: host, attach: r, pid_namespace: true}
  plain: {kind: host, attach: r}
programs:
  wait: {run: sleep 1000, each: [own, other, plain], service: true}
"""
PROCESSES = 'for each in /proc/[0-9]*; do tr "\\0" " " <$each/cmdline; echo; done'


def up(folder: Path, text: str = SCENARIO) -> longhaul.Network:
    path = folder / "own.yaml"
    path.write_text(text)
    return longhaul.up(path, runs=folder / "runs")


@pytest.fixture
def network(tmp_path: Path) -> Iterator[longhaul.Network]:
    with up(tmp_path) as network:
        yield network


def said(network: longhaul.Network, host: str, command: str) -> str:
    return network.run(host, ["sh", "-c", command], check=False).stdout


def test_proc_lists_only_processes_of_the_host(network: longhaul.Network) -> None:
    own = said(network, "own", PROCESSES).split("\n")
    assert sum(line.startswith("sleep 1000") for line in own) == 1
    # The command line of init.
    assert sum("longhaul" in line for line in own) == 1
    assert said(network, "own", "cat /proc/1/comm") == "lh-host-init\n"
    all_of_the_run = said(network, "plain", PROCESSES).split("\n")
    assert sum(line.startswith("sleep 1000") for line in all_of_the_run) == 3
    # PIDs start at 1, and /proc/self is the reader's.
    assert int(said(network, "own", "echo $$")) < 100
    assert said(network, "own", "readlink /proc/self") != ""


def test_signals_reach_only_processes_of_the_host(network: longhaul.Network) -> None:
    assert said(network, "own", "kill -9 -1; echo sent") == "sent\n"
    deadline = time.monotonic() + 10
    while "sleep" in said(network, "own", PROCESSES) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "sleep" not in said(network, "own", PROCESSES)
    assert "sleep" in said(network, "other", PROCESSES)
    # Init has survived, and the host still runs commands.
    assert said(network, "own", "echo well") == "well\n"


def test_init_reaps_orphaned_processes(network: longhaul.Network) -> None:
    said(network, "own", "(sleep 0.1 &) ; (sleep 0.1 &)")
    deadline = time.monotonic() + 10
    states = "grep -l 'State:.Z' /proc/[0-9]*/status; pgrep -x sleep | wc -l"
    while said(network, "own", states) != "1\n" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert said(network, "own", states) == "1\n"


def test_proc_is_restricted_as_on_other_hosts(network: longhaul.Network) -> None:
    for host in ("own", "plain"):
        assert (
            "Read-only"
            in network.run(host, ["sh", "-c", "echo x > /proc/sys/kernel/core_pattern"], check=False).stderr
        )
        assert said(network, host, "cat /proc/kmsg /proc/timer_list") == ""
    # Sysctls of its own network are writable.
    assert (
        said(network, "own", "echo 1 > /proc/sys/net/ipv4/ip_forward && cat /proc/sys/net/ipv4/ip_forward")
        == "1\n"
    )
    assert said(network, "plain", "cat /proc/sys/net/ipv4/ip_forward") == "0\n"
    # Programs could otherwise gain the privileges of init by entering its namespaces.
    mask = said(network, "own", "grep CapEff /proc/1/status; grep CapEff /proc/self/status").split()
    assert mask[1] == mask[3]


def test_the_launch_agent_enters_the_namespace_and_refuses_to_leave_it(network: longhaul.Network) -> None:
    found = said(network, "plain", f"$LONGHAUL_AGENT own '{PROCESSES}'").split("\n")
    assert sum(line.startswith("sleep 1000") for line in found) == 1
    assert said(network, "plain", "$LONGHAUL_AGENT own 'exit 7'; echo $?") == "7\n"
    refused = network.run("own", ["sh", "-c", "$LONGHAUL_AGENT plain true"], check=False)
    assert refused.returncode == 255
    assert "own has its own PID namespace and cannot start commands on other hosts" in refused.stderr


def test_a_command_ends_with_its_caller(network: longhaul.Network, tmp_path: Path) -> None:
    caller = subprocess.Popen(
        [str(Path(sys.executable).parent / "longhaul"), "exec", "own", "--", "sleep", "2000"], cwd=tmp_path
    )
    try:
        deadline = time.monotonic() + 20
        while "sleep 2000" not in said(network, "own", PROCESSES) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "sleep 2000" in said(network, "own", PROCESSES)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    while "sleep 2000" in said(network, "own", PROCESSES) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "sleep 2000" not in said(network, "own", PROCESSES)


def test_programs_that_ignore_sigterm_are_killed_at_the_end_of_the_run(tmp_path: Path) -> None:
    stubborn = SCENARIO.replace(
        "run: sleep 1000", "run: \"sh -c 'trap : TERM; sleep 3021 & while :; do wait; sleep 1; done'\""
    )
    with up(tmp_path, stubborn):
        pass
    left = subprocess.run(["pgrep", "-f", "sleep 3021"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_a_program_that_spans_hosts_cannot_start_in_the_namespace(tmp_path: Path) -> None:
    text = SCENARIO.replace("  wait:", "  job: {run: mpirun hostname, hosts: [own, plain]}\n  wait:")
    with pytest.raises(LonghaulError, match="cannot start ranks on others; list another host first"):
        up(tmp_path, text)


def test_the_commands_of_the_guide_list_one_server_and_all(tmp_path: Path) -> None:
    of_web, of_db = run_commands("host-files.md", "own", tmp_path).split("PID TTY")[1:3]
    assert of_web.count("http.server 8080") == 1
    assert of_db.count("http.server 8080") == 2
