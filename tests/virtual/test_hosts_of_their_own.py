"""What a scenario gives a host of its own: a name, files, a root directory, a user, capabilities."""

import os
import shutil
from pathlib import Path

import pytest
from virtual_runs import Longhaul, Ran

BUSYBOX = shutil.which("busybox")
SCENARIO = """\
version: 1
name: two
duration: 1s
nodes:
  a:
    kind: host
    hostname: db.example.org
    files: {/etc/passwd: users, /etc/lh-test.d/one.conf: one.conf, /usr/local/bin/lh-test: tool.sh}
  b: {kind: host, rootfs: root, hostname: inside, user: guest, capabilities: [NET_RAW]}
links:
  a-b: {endpoints: [a, b], delay: 1ms}
programs:
  own: {run: "lh-test", hosts: [a], expect_exit: 0}
  rooted:
    run: [sh, -c, "hostname; id -un; ls /; grep CapBnd /proc/self/status; ping -c 1 a >/dev/null && echo up"]
    hosts: [b]
    expect_exit: 0
"""
TOOL = """\
#!/bin/sh
hostname
cat /etc/hostname /etc/lh-test.d/one.conf
getent passwd root
echo x > /etc/passwd
exit 0
"""


@pytest.fixture
def scenario(work: Path) -> Path:
    """The scenario, with its files and its root directory beside it."""
    (work / "users").write_text("root:x:0:0:a user of the host:/root:/bin/sh\n")
    (work / "one.conf").write_text("one\n")
    (work / "tool.sh").write_text(TOOL)
    (work / "tool.sh").chmod(0o755)
    for folder in ("bin", "etc", "tmp"):
        (work / "root" / folder).mkdir(parents=True)
    assert BUSYBOX is not None
    shutil.copy(BUSYBOX, work / "root/bin/busybox")
    for command in ("sh", "id", "ls", "hostname", "grep", "ping", "echo"):
        (work / "root/bin" / command).symlink_to("busybox")
    (work / "root/etc/passwd").write_text("root:x:0:0::/:/bin/sh\nguest:x:1234:1234::/tmp:/bin/sh\n")
    (work / "root/etc/group").write_text("root:x:0:\nguest:x:1234:\n")
    # A link that leads nowhere, as images have it.
    (work / "root/etc/resolv.conf").symlink_to("/run/systemd/resolve/stub-resolv.conf")
    path = work / "two.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed")
def test_a_host_has_its_name_its_files_its_root_directory_and_its_user(
    longhaul: Longhaul, work: Path, scenario: Path
) -> None:
    before = sorted(os.walk(work / "root"))
    done = longhaul("run", scenario.name, "--clock", "virtual", "--no-report")
    ran = Ran(done, (work / "runs" / "two" / "latest").resolve())

    assert ran.code == 0, ran.stdout + ran.stderr + ran.log("own.err") + ran.log("rooted.err")
    assert ran.log("own.out").splitlines() == [
        "db.example.org",
        "db.example.org",
        "one",
        "root:x:0:0:a user of the host:/root:/bin/sh",
    ]
    assert "Read-only file system" in ran.log("own.err")
    name, user, *listed, capabilities, there = ran.log("rooted.out").split("\n")[:-1]
    assert (name, user, there) == ("inside", "guest", "up")
    assert {"bin", "etc", "proc"} <= set(listed)
    assert "usr" not in listed
    assert int(capabilities.split()[1], 16) == 1 << 13
    assert sorted(os.walk(work / "root")) == before
