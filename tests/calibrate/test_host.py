"""Checks of this machine for what some scenarios need."""

import platform
from pathlib import Path

import pytest

from longhaul.calibrate import host
from longhaul.calibrate.host import Finding


def found(what: str) -> Finding:
    (finding,) = [each for each in host.examine(self_test=False) if each.what == what]
    return finding


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The modules of a kernel that has no overlayfs built in."""
    (tmp_path / "filesystems").write_text("nodev\tproc\n\text4\n")
    monkeypatch.setattr(host, "_FILE_SYSTEMS", tmp_path / "filesystems")
    monkeypatch.setattr(host, "_MODULES", tmp_path / "modules")
    return tmp_path / "modules" / platform.release() / "kernel/fs/overlayfs"


def test_root_directories_of_hosts_need_overlayfs(modules: Path) -> None:
    finding = found("root directories of hosts")
    assert (finding.state, finding.fix) == ("poor", "use a kernel with CONFIG_OVERLAY_FS")


def test_overlayfs_may_be_a_module(modules: Path) -> None:
    modules.mkdir(parents=True)
    (modules / "overlay.ko.xz").touch()
    assert found("root directories of hosts").state == "good"


def test_multipath_tcp_needs_a_kernel_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_MPTCP", tmp_path / "mptcp")
    finding = found("Multipath TCP")
    assert (finding.state, finding.fix) == ("poor", "use Linux 5.6 or later with CONFIG_MPTCP")


def test_multipath_tcp_needs_the_program_that_starts_others_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_MPTCP", tmp_path)
    monkeypatch.setattr(host, "find_program", lambda _: None)
    assert found("Multipath TCP").fix == "sudo apt-get install mptcpize"
    monkeypatch.setattr(host, "find_program", lambda name: f"/usr/bin/{name}")
    assert found("Multipath TCP").state == "good"
