"""Programs of a host, which are root of their run, against the machine."""

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Started

ATTACKS = """
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "DONE $name"; else echo "refused $name"; fi; }
put() { echo "$1" >"$2"; }
try module python3 -c '
import ctypes, errno, platform, sys
finit_module = {"x86_64": 313, "aarch64": 273}[platform.machine()]
ctypes.CDLL(None, use_errno=True).syscall(finit_module, -1, b"", 0)
sys.exit(ctypes.get_errno() == errno.EPERM)'
try core_pattern put x /proc/sys/kernel/core_pattern
try sysrq put h /proc/sysrq-trigger
try clock date -s 2001-01-01
try mount mount -t tmpfs none /mnt
try usr touch /usr/evil
try etc touch /etc/evil
try cron touch /var/spool/cron/evil
try sys put 1 /sys/kernel/profiling
try cgroup mkdir /sys/fs/cgroup/evil
try docker test -S /run/docker.sock
try marker test -e /run/marker-of-the-machine
try supervisor sh -c ': </proc/1/mem'
try supervisor-files ls -L /proc/1/fd/0
try supervisor-root ls -L /proc/1/root
try supervisor-net nsenter --net=/proc/1/ns/net true
try kcore dd if=/proc/kcore bs=1 count=1
try disk sh -c 'ls /dev | grep -Eq "^(sd|vd|nvme|xvd|mem$|kmem$|port$|kmsg$)"'
try node mknod /tmp/evil-$$ b 8 0
try dmesg dmesg
"""

NEEDED = """
try() {
  name=$1; shift
  if "$@" >/tmp/isolation.$$ 2>&1; then echo "works $name"; return; fi
  echo "failed $name"; cat /tmp/isolation.$$
}
put() { echo "$1" >"$2"; }
try cwd touch here
try tmp touch /tmp/isolation.$$
try ping ping -c 1 -q far
try ping6 ping -6 -c 1 -q far
try ip ip addr add 10.9.9.9/32 dev lo
try route ip route add 10.8.0.0/16 via 10.0.0.2 dev eth0 onlink
try sysctl put 1 /proc/sys/net/ipv4/ip_forward
try agent $LONGHAUL_AGENT far true
try raw python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW).bind(("eth0", 0))'
try user setpriv --reuid=65534 --regid=65534 --clear-groups true
try names getent hosts far
for tool in tc nft tcpdump; do command -v $tool >/dev/null || PATH=$PATH:/usr/sbin; done
command -v tc >/dev/null && try tc tc qdisc add dev eth0 root pfifo
command -v nft >/dev/null && try nft nft add table ip mine
rm -f /tmp/isolation.$$
"""


def hosts_say(started: Started, work: Path, script: str, *, isolation: str = "strict") -> list[str]:
    (work / "script.sh").write_text(script)
    (work / "pair.yaml").write_text(
        f"version: 1\nname: pair\nisolation: {isolation}\n"
        "nodes:\n  near: {kind: host}\n  far: {kind: host}\n"
        "links:\n  wan: {endpoints: [near, far], delay: 1ms}\n"
        "programs:\n  attack: {run: sh script.sh, host: near}\n"
    )
    done = started("run", "pair.yaml")
    assert done.returncode in (0, 4), done.stderr + done.stdout
    return (work / "runs/pair/latest/logs/attack.out").read_text().splitlines()


def test_programs_of_a_host_cannot_change_the_machine(
    started: Started, work: Path, live_machine: None, tmp_path: Path
) -> None:
    before = Path("/proc/sys/kernel/core_pattern").read_text()
    marker = Path("/run/marker-of-the-machine")
    if os.access("/run", os.W_OK):
        marker.touch()
    try:
        said = hosts_say(started, work, ATTACKS)
    finally:
        marker.unlink(missing_ok=True)
    assert len(said) == ATTACKS.count("\ntry ")
    assert [line for line in said if not line.startswith("refused")] == []
    assert Path("/proc/sys/kernel/core_pattern").read_text() == before


def test_programs_of_a_host_keep_what_tests_of_networks_need(
    started: Started, work: Path, live_machine: None
) -> None:
    said = hosts_say(started, work, NEEDED)
    assert [line for line in said if not line.startswith("works")] == []
    assert len(said) >= 12


def test_a_shell_is_isolated_as_programs_are(started: Started, work: Path, live_machine: None) -> None:
    (work / "script.sh").write_text(ATTACKS + NEEDED)
    done = started("shell", "--delay", "1ms", "--", "sh", "script.sh")
    said = done.stdout.splitlines()
    assert [line for line in said if not line.startswith(("refused", "works"))] == [], done.stdout
    assert len(said) > 25


def test_what_a_scenario_asks_for_is_not_isolated(started: Started, work: Path, live_machine: None) -> None:
    script = "grep -E 'NoNewPrivs|Seccomp:' /proc/self/status\n"
    assert hosts_say(started, work, script, isolation="none")[:2] == ["NoNewPrivs:\t0", "Seccomp:\t0"]


def test_a_run_changes_neither_mounts_nor_privileges_of_who_starts_it(
    started: Started, work: Path, live_machine: None
) -> None:
    if os.geteuid() != 0:
        pytest.skip("of root")
    mounts = Path("/proc/self/mounts").read_text()
    hosts_say(started, work, "true\n")
    assert Path("/proc/self/mounts").read_text() == mounts
    assert subprocess.run(["touch", "/run/longhaul-test-of-isolation"], check=False).returncode == 0
    Path("/run/longhaul-test-of-isolation").unlink()
