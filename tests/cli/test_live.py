"""Real runs from the command line, and how they end."""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import pytest

from .conftest import ROOT, Command

PAIR = """
version: 1
name: pair
seed: 3
{duration}
nodes:
  a: {{kind: host}}
  b: {{kind: host}}
links:
  wire: {{endpoints: [a, b], delay: 2ms, rate: 1Gbit}}
{rest}
"""


def scenario(work: Path, rest: str, *, duration: str = "") -> str:
    (work / "pair.yaml").write_text(PAIR.format(rest=rest, duration=duration))
    return "pair.yaml"


def pids(command_line: str) -> list[int]:
    found = subprocess.run(["pgrep", "-f", command_line], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def latest(work: Path, name: str = "pair") -> Path:
    return work / "runs" / name / "latest"


def test_a_good_run_leaves_everything_that_the_design_names(longhaul: Command, work: Path) -> None:
    text = """
programs: {p: {run: ping -c 5 -i 0.05 b, host: a}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: cubic, stop: 2s}
  probe: {kind: ping, from: b, to: a, every: 50ms, stop: 2s}
expect:
  - {metric: programs.p.exit, equals: 0}
  - {metric: probes.probe.a.rtt.min, min: 4ms, max: 40ms}
  - {metric: links.wire.forward.lost, equals: 0}
"""
    result = longhaul("run", scenario(work, text))
    assert result.returncode in (0, 4), result.stdout + result.stderr
    directory = latest(work)
    for name in [
        "run.json",
        "scenario.yaml",
        "plan.json",
        "fidelity.json",
        "links.parquet",
        "flows.parquet",
        "probes.parquet",
        "summary.json",
        "report.html",
        "logs",
        "raw",
    ]:
        assert (directory / name).exists(), name
    assert (directory / "scenario.yaml").read_bytes() == (work / "pair.yaml").read_bytes()
    summary = json.loads((directory / "summary.json").read_text())
    assert all(each["met"] for each in summary["expectations"])
    fates = summary["packets"]
    begun = fates.pop("injected") + fates.pop("copied") + fates.pop("replies")
    assert begun == sum(fates.values())
    (wire,) = [link for link in summary["links"] if link["way"] == "forward"]
    assert wire["achieved"]["delay_ns"] == pytest.approx(2_000_000, abs=1)
    assert max(len(line) for line in result.stdout.splitlines()[:-1]) <= 80
    page = (directory / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    # Scripts are in it; nothing is loaded.
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=", page)
    assert "@import" not in page
    for title in ("Topology", "Throughput over time", "Links: configured and measured", "Expectations"):
        assert title in page


def test_json_goes_to_stdout_alone(longhaul: Command, work: Path) -> None:
    path = scenario(work, "programs: {p: {run: ping -c 2 -i 0.01 b, host: a}}")
    result = longhaul("run", path, "--json", "--no-report")
    assert json.loads(result.stdout)["programs"][0]["exit"] == 0
    assert not (latest(work) / "report.html").exists()


def test_a_failing_program_gives_exit_code_1(longhaul: Command, work: Path) -> None:
    result = longhaul("run", scenario(work, "programs: {p: {run: sh -c 'exit 7', host: a}}"))
    assert result.returncode == 1
    assert "exit code 7, expected 0" in result.stderr


def test_an_unmet_expectation_gives_1_and_an_untrusted_one_4(longhaul: Command, work: Path) -> None:
    rest = "programs: {p: {run: ping -c 1 b, host: a}}\nexpect: [{metric: programs.p.wall_time, max: 1ns%s}]"
    result = longhaul("run", scenario(work, rest % ""))
    assert result.returncode == 1
    assert "failed programs.p.wall_time at most 1 ns" in result.stdout
    assert longhaul("run", scenario(work, rest % ", else: untrusted")).returncode == 4


def test_an_absent_program_is_named_and_gives_exit_code_1(longhaul: Command, work: Path) -> None:
    result = longhaul("run", scenario(work, "programs: {p: {run: no-such-program, host: a}}"))
    assert result.returncode == 1
    assert "no-such-program" in result.stdout + result.stderr


def test_beyond_capacity_the_run_is_invalid_and_says_what_was_lost(longhaul: Command, work: Path) -> None:
    """A receiver whose socket buffer holds two datagrams cannot take 400 Mbit/s: the kernel drops."""
    server = (
        "import socket,time; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
        "s.setsockopt(socket.SOL_SOCKET,socket.SO_RCVBUF,4096); s.bind(('',9)); time.sleep(2.5)"
    )
    client = (
        "import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
        "[s.sendto(bytes(1400),('b',9)) for _ in range(2000)]"
    )
    (work / "server.py").write_text(server.replace(";", "\n").replace("\n ", "\n"))
    (work / "client.py").write_text(client.replace(";", "\n").replace("\n ", "\n"))
    rest = f"""
programs:
  server: {{run: {sys.executable} server.py, host: b}}
  client: {{run: {sys.executable} client.py, host: a, start: 1s}}
"""
    result = longhaul("run", scenario(work, rest))
    assert result.returncode == 4, result.stdout + result.stderr
    assert "invalid" in result.stdout
    assert "(UdpRcvbufErrors)" in result.stdout
    hosts = json.loads((latest(work) / "raw/hosts.json").read_text())
    summary = json.loads((latest(work) / "summary.json").read_text())
    assert hosts["b"]["UdpRcvbufErrors"] > 1000
    assert summary["packets"]["delivered"] >= 2000 - summary["packets"]["overflowed"]


def test_ctrl_c_keeps_results_and_leaves_nothing(
    work: Path, environment: dict[str, str], runtime: Path
) -> None:
    scenario(work, "programs: {p: {run: ping -i 0.05 b, host: a}}", duration="duration: 60s")
    process = subprocess.Popen(
        [sys.executable, "-m", "longhaul.cli.main", "run", "pair.yaml"],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 20
        while not (log := work / "runs/pair/latest/logs/p.out").exists() or log.stat().st_size < 200:
            assert time.monotonic() < deadline, "the run did not begin"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        stdout, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert "report:" in stdout
    summary = json.loads((latest(work) / "summary.json").read_text())
    assert summary["packets"]["delivered"] > 0
    assert json.loads((latest(work) / "run.json").read_text())["status"] == "interrupted"
    assert not list((runtime / "longhaul").glob("*.sock"))
    assert not pids("ping -i 0.05 b")


def test_up_exec_set_status_down(longhaul: Command, work: Path) -> None:
    path = scenario(
        work, "traffic: {probe: {kind: ping, from: a, to: b, every: 100ms}}", duration="duration: 1s"
    )
    assert "pair is up: 2 hosts" in longhaul("up", path).stdout
    assert longhaul("up", path).returncode == 2, "a second run took the name"
    time.sleep(1.5)  # beyond its duration: the network stays
    assert longhaul("exec", "a", "--", "sh", "-c", "exit 7").returncode == 7
    assert longhaul("exec", "a", "--", "hostname").stdout == "a\n"
    before = longhaul("exec", "a", "--", "ping", "-q", "-c", "10", "-i", "0.1", "b").stdout
    assert 4.0 <= float(before.split(" = ")[1].split("/")[0]) < 8.0
    assert longhaul("set", "wire", "delay=20ms").returncode == 0
    after = longhaul("exec", "a", "--", "ping", "-q", "-c", "10", "-i", "0.1", "b").stdout
    assert 40.0 <= float(after.split(" = ")[1].split("/")[0]) < 48.0
    assert longhaul("set", "wire", "down").returncode == 0
    assert longhaul("exec", "a", "--", "ping", "-q", "-c", "1", "-W", "1", "b").returncode == 1
    assert longhaul("set", "wire", "up").returncode == 0
    wrong = longhaul("set", "wire", "delay=20")
    assert wrong.returncode == 2
    assert '"20" has no unit' in wrong.stderr
    assert 'did you mean "wire"?' in longhaul("set", "wier", "down").stderr
    status = json.loads(longhaul("status", "--json").stdout)
    assert status["engine"]["delivered_packets"] > 10
    result = longhaul("down")
    assert result.returncode in (0, 4), result.stderr
    assert "report:" in result.stdout
    assert json.loads((latest(work) / "summary.json").read_text())["packets"]["down"] > 0
    assert longhaul("down").returncode == 2


def test_clean_sweeps_up_after_a_supervisor_that_was_killed(
    longhaul: Command, work: Path, runtime: Path
) -> None:
    path = scenario(work, "programs: {p: {run: sleep 97531, host: a}}", duration="duration: 60s")
    assert longhaul("up", path).returncode == 0
    deadline = time.monotonic() + 5
    while not (found := pids("sleep 97531")):
        assert time.monotonic() < deadline, "the program did not start"
        time.sleep(0.05)
    group = Path(f"/proc/{found[0]}/status").read_text()
    parent = int(next(line for line in group.splitlines() if line.startswith("PPid")).split()[1])
    os.kill(parent, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while pids("sleep 97531"):
        assert time.monotonic() < deadline, "a program outlived its supervisor"
        time.sleep(0.05)
    assert longhaul("clean").returncode == 0
    assert not list((runtime / "longhaul").glob("*.sock"))
    assert longhaul("up", path).returncode == 0, "the name is not free again"


def test_shells_nest_and_give_the_exit_code_of_their_command(longhaul: Command) -> None:
    me = f"{sys.executable} -m longhaul.cli.main"
    inner = f"{me} shell --quiet --delay 1ms -- ping -q -c 3 -i 0.05 far"
    outer = ("shell", "--quiet", "--delay", "3ms", "--isolation", "none")  # a run in a run mounts
    result = longhaul(*outer, "--", "sh", "-c", f"hostname; {inner}; exit 5")
    assert result.returncode == 5, result.stderr
    assert result.stdout.startswith("near\n")
    assert 2.0 <= float(result.stdout.split(" = ")[1].split("/")[0]) < 5.0


def test_far_runs_beside_near_and_ends_with_it(longhaul: Command) -> None:
    result = longhaul(
        "shell",
        "--delay",
        "1ms",
        "--far",
        "iperf3 -s -1",
        "--",
        "iperf3",
        "-c",
        "far",
        "-t",
        "1",
        "-C",
        "cubic",
    )
    assert result.returncode in (0, 4), result.stderr
    assert "iperf Done." in result.stdout


NOBODY = """
set -e
mknod "$1/tun" c 10 200
chmod 666 "$1/tun"
mount --bind "$1/tun" /dev/net/tun
shift
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""


def test_a_plain_user_runs_everything_where_tun_may_be_opened(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """As nobody, without any capability but those of a user namespace of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    python = "/usr/bin/python3"  # ours may stand in a home directory that is closed to others
    modern = subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], check=False)
    if modern.returncode != 0:
        pytest.skip("the system's Python is too old")
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        result = subprocess.run(
            [
                *("unshare", "--mount", "sh", "-c", NOBODY, "sh", str(tmp_path), python, "-m"),
                *("longhaul.cli.main", "shell", "--delay", "2ms"),
                *("--", "sh", "-c", "id -u; ping -q -c 20 -i 0.2 far; iperf3 --version | head -1"),
            ],
            cwd=place,
            env={
                **environment,
                "XDG_RUNTIME_DIR": f"{place}/runtime",
                "HOME": place,
                "TMPDIR": place,
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": f"{ROOT / 'python'}:{sysconfig.get_path('purelib')}",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    if "No module named" in result.stderr:
        pytest.skip("the project is closed to other users here")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith("0\n"), "not root of its own namespace"
    assert 4.0 <= float(result.stdout.split(" = ")[1].split("/")[0]) < 8.0
