"""The scripts, run: in namespaces that are joined as the machines would be."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from longhaul.export.deployment import Deployment, deploy
from longhaul.export.files import export, write
from longhaul.export.machines import read_machines
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import Resolved, load_scenario, parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: four
duration: 1s
profiles: {lan: {rate: 1Gbit, mtu: 1400}}
nodes:
  east: {kind: router}
  west: {kind: router}
  e1..2: {kind: host, attach: east, profile: lan}
  w1: {kind: host, attach: west, profile: lan}
links:
  ocean: {endpoints: [east, west], delay: 25ms, rate: 500Mbit, count: ethernet, loss: 0.1%}
"""
MACHINES = """\
version: 1
machines:
  east: {address: 192.0.2.1}
  west: {address: 192.0.2.2}
  e1: {address: 192.0.2.3}
  e2: {address: 192.0.2.4}
  w1: {address: 192.0.2.5}
  ocean: {address: 192.0.2.6, user: admin}
"""
EXAMPLES = Path(__file__).parents[2] / "scenarios"
NOT_HERE = "Specified qdisc kind is unknown"
"""What the kernel says of a discipline that it lacks, when tc has understood the words."""


@pytest.fixture
def resolved() -> Resolved:
    return resolve(parse_scenario(SCENARIO, name="four.yaml"))


@pytest.fixture
def folder(resolved: Resolved, tmp_path: Path) -> Path:
    (tmp_path / "machines.yaml").write_text(MACHINES, encoding="utf-8")
    machines = read_machines(tmp_path / "machines.yaml")
    for kind in ("tc", "shell", "ansible"):
        write(export(resolved, kind, machines=machines, kernel=Kernel()), tmp_path / kind)
    return tmp_path


@dataclass(frozen=True)
class Net:
    """A namespace for each machine, and veth pairs between them."""

    prefix: str
    folder: Path

    def call(self, machine: str, *argv: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "LONGHAUL_KEPT": str(self.folder),
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
        }
        command = ["ip", "netns", "exec", f"{self.prefix}{machine}", *argv]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def all(self, verb: str, machines: Deployment) -> None:
        for machine in machines.machines:
            done = self.call(machine.name, "sh", str(self.folder / "shell" / f"{machine.name}.sh"), verb)
            assert done.returncode == 0, (machine.name, done.stderr)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def deployment(resolved: Resolved, folder: Path) -> Deployment:
    return deploy(resolved, machines=read_machines(folder / "machines.yaml"), kernel=Kernel())


@pytest.fixture
def net(deployment: Deployment, folder: Path) -> Iterator[Net]:
    if os.geteuid() or any(shutil.which(name) is None for name in ("ip", "ethtool", "ping")):
        pytest.skip("needs root, iproute2, ethtool and ping")
    prefix = f"lhx{os.getpid()}-"
    made = []
    # netem is not in every kernel, and addresses and routes are what is looked at.
    (folder / "bin").mkdir()
    (folder / "bin" / "tc").write_text(f'#!/bin/sh\necho "$*" >>{folder}/tc.log\n', encoding="utf-8")
    (folder / "bin" / "tc").chmod(0o755)
    try:
        for machine in deployment.machines:
            _ip("netns", "add", prefix + machine.name)
            made.append(prefix + machine.name)
            _ip("-n", prefix + machine.name, "link", "set", "dev", "lo", "up")
        done = set()
        for machine in deployment.machines:
            for port in machine.ports:
                there = deployment.machine(port.peer)
                far = next(p for p in there.ports if p.peer == machine.name and p.link == port.link)
                pair = frozenset(((machine.name, port.device), (there.name, far.device)))
                if pair not in done:
                    done.add(pair)
                    near = ("link", "add", port.device, "netns", prefix + machine.name, "type", "veth")
                    _ip(*near, "peer", "name", far.device, "netns", prefix + there.name)
        yield Net(prefix, folder)
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def test_every_script_is_one_for_sh_and_bash(folder: Path) -> None:
    scripts = sorted(folder.rglob("*.sh"))
    assert len(scripts) == 2 * 6
    for script in scripts:
        for shell in ("sh", "bash"):
            subprocess.run([shell, "-n", str(script)], check=True)


def test_machines_reach_each_other_at_the_addresses_of_a_run(
    net: Net, deployment: Deployment, resolved: Resolved
) -> None:
    net.all("up", deployment)
    net.all("up", deployment)
    hosts = [node for node in resolved.plan["nodes"] if node["kind"] == "host"]
    # Duplicate address detection is off, but a bridge learns.
    for here in hosts:
        for there in hosts:
            for family in ("ipv4", "ipv6"):
                done = net.call(here["name"], "ping", "-n", "-c", "1", "-W", "5", there[family])
                assert done.returncode == 0, (here["name"], there["name"], family, done.stdout + done.stderr)
                if here["name"][0] != there["name"][0] and family == "ipv4":
                    # Two routers, and a machine for the link that is not a hop.
                    assert "ttl=62" in done.stdout
    assert "mtu 1400" in net.call("w1", "ip", "link", "show", "eth1").stdout


def test_down_leaves_what_was_there_before(net: Net, deployment: Deployment) -> None:
    def state() -> list[list[str]]:
        found = []
        for machine in deployment.machines:
            # Link-local addresses come with the first "up" of a device, and stay.
            for argv in (
                ["ip", "-4", "address"],
                ["ip", "-6", "address", "show", "scope", "global"],
                ["ip", "-4", "route", "show", "table", "all"],
                ["ip", "-6", "route", "show", "table", "all"],
                [
                    "sysctl",
                    "net.ipv4.tcp_rmem",
                    "net.ipv6.conf.all.forwarding",
                    "net.ipv4.conf.eth1.rp_filter",
                ],
                ["cat", "/sys/class/net/eth1/mtu"],
            ):
                lines = net.call(machine.name, *argv).stdout.splitlines()
                found.append([line for line in lines if "fe80:" not in line and "ff00:" not in line])
        return found

    for machine in deployment.machines:
        for port in machine.ports:
            net.call(machine.name, "ip", "link", "set", "dev", port.device, "up")
    before = state()
    net.all("up", deployment)
    during = state()
    assert during != before
    net.all("down", deployment)
    net.all("down", deployment)
    assert state() == before


def test_vlans_of_one_device_keep_their_mtus(tmp_path: Path) -> None:
    """Whichever comes last: a device below a VLAN that is made smaller makes that smaller, too."""
    scenario = b"""\
version: 1
name: two
duration: 1s
nodes: {a: {kind: host}, r: {kind: router}, b: {kind: host}}
links: {ar: {endpoints: [a, r], delay: 1ms, mtu: 9000}, rb: {endpoints: [r, b], delay: 1ms, mtu: 2000}}
"""
    (tmp_path / "machines.yaml").write_text("""\
version: 1
machines:
  a: {address: 192.0.2.1}
  r: {address: 192.0.2.2, interfaces: {ar: eth1.11, rb: eth1.12}}
  b: {address: 192.0.2.3}
""")
    files = export(
        resolve(parse_scenario(scenario, name="two.yaml")),
        "shell",
        machines=read_machines(tmp_path / "machines.yaml"),
        kernel=Kernel(),
    ).files
    raised = [line.strip() for line in files["r.sh"].splitlines() if "/eth1/mtu" in line]
    assert raised == ["put /sys/class/net/eth1/mtu 9000"]
    assert files["r.sh"].index("/eth1/mtu 9000") < files["r.sh"].index("name eth1.11 type vlan id 11")


@pytest.mark.parametrize("name", ["four", "two-clusters", "three-clusters", "pmtu-1400", "ipv6-jumbo"])
def test_tc_understands_every_line(name: str, resolved: Resolved, tmp_path: Path) -> None:
    if os.geteuid() or shutil.which("tc") is None:
        pytest.skip("needs root and tc")
    if name != "four":
        resolved = resolve(load_scenario(EXAMPLES / f"{name}.yaml"))
    files = export(resolved, "tc", machines=None, kernel=Kernel()).files
    lines = sorted({line for text in files.values() for line in text.splitlines() if line.startswith("tc")})
    assert lines
    understood = "".join(_tried(line) for line in lines)
    script = "set -u\nip link add near type veth peer name far\n" + understood
    done = subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, check=False)
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines), done.stderr
    for line, answer in zip(lines, answers, strict=True):
        assert answer == "ok" or NOT_HERE in answer, (line, answer)
    assert any(answer == "ok" for answer, line in zip(answers, lines, strict=True) if " tbf " in line)


def _tried(line: str) -> str:
    """One answer a line; a child is tried as the root, where its parent may be missing."""
    words = line.split()
    words[4] = "near"
    if "parent" in words:
        at = words.index("parent")
        words[at : at + 2] = ["root"]
    command = " ".join(words)
    return f"tc qdisc del dev near root 2>/dev/null; if o=$({command} 2>&1); then echo ok; else echo $o; fi\n"


def test_the_playbooks_name_scripts_that_are_there(folder: Path) -> None:
    inventory = yaml.safe_load((folder / "ansible" / "inventory.yaml").read_text())
    hosts = inventory["all"]["hosts"]
    assert hosts["ocean"] == {"ansible_host": "192.0.2.6", "ansible_user": "admin"}
    for verb, state in (("up", "present"), ("down", "absent")):
        (play,) = yaml.safe_load((folder / "ansible" / f"{verb}.yaml").read_text())
        script, names = play["tasks"]
        command = script["ansible.builtin.script"]["cmd"]
        for host in hosts:
            path, argument = command.replace("{{ inventory_hostname }}", host).split()
            assert (folder / "ansible" / path).is_file()
            assert argument == verb
        assert names["ansible.builtin.blockinfile"]["state"] == state
        assert "10.2.0.1\tw1\n" in names["ansible.builtin.blockinfile"]["block"]
