"""What forbids user namespaces, from a machine's files, and the AppArmor profile that allows them."""

import subprocess
import sys
from pathlib import Path

import pytest

from longhaul.calibrate.user_namespaces import apparmor_profile, obstacle, refusal, restriction

REFUSED = "write /proc/self/uid_map: Operation not permitted"


def machine(root: Path, **files: str) -> Path:
    """A root with these files, in whose names ``__`` is a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root


def ubuntu(root: Path, *, label: str = "unconfined", restricted: str = "1") -> Path:
    """Ubuntu 24.04: both restrictions are known there, and one is on."""
    return machine(
        root,
        proc__sys__kernel__apparmor_restrict_unprivileged_userns=restricted,
        proc__sys__kernel__unprivileged_userns_clone="1",
        proc__sys__user__max_user_namespaces="63456",
        proc__self__attr__current=label,
        sys__module__apparmor__parameters__enabled="Y",
    )


def test_apparmor_is_named_with_what_failed_and_the_commands_that_install_a_profile(tmp_path: Path) -> None:
    found = obstacle(REFUSED, ubuntu(tmp_path))
    assert "kernel.apparmor_restrict_unprivileged_userns=1" in found.detail
    assert REFUSED in found.detail
    assert "longhaul doctor --apparmor-profile | sudo tee /etc/apparmor.d/longhaul" in found.remedy
    assert "sudo apparmor_parser -r /etc/apparmor.d/longhaul" in found.remedy
    assert "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" in found.remedy


def test_a_child_in_a_restricted_namespace_is_restricted_by_apparmor(tmp_path: Path) -> None:
    assert restriction(ubuntu(tmp_path, label="unprivileged_userns (enforce)")) == "apparmor"


def test_a_process_under_the_installed_profile_is_not_restricted(tmp_path: Path) -> None:
    assert restriction(ubuntu(tmp_path, label="longhaul (unconfined)")) is None


def test_a_restriction_that_is_off_is_not_named(tmp_path: Path) -> None:
    assert restriction(ubuntu(tmp_path, restricted="0")) is None
    assert "docker run" in obstacle(REFUSED, tmp_path).remedy


@pytest.mark.parametrize(
    ("file", "name", "remedy"),
    [
        (
            "proc__sys__kernel__unprivileged_userns_clone",
            "unprivileged_userns_clone",
            "unprivileged_userns_clone=1",
        ),
        ("proc__sys__user__max_user_namespaces", "max_user_namespaces", "max_user_namespaces=10000"),
    ],
)
def test_sysctls_of_debian_and_red_hat_are_named(file: str, name: str, remedy: str, tmp_path: Path) -> None:
    root = machine(tmp_path, **{file: "0"})
    assert restriction(root) == name
    assert remedy in obstacle(REFUSED, root).remedy


def test_the_profile_allows_user_namespaces_and_confines_nothing() -> None:
    lines = apparmor_profile(Path("/srv/u/env/bin/longhaul")).splitlines()
    assert "abi <abi/4.0>," in lines
    assert 'profile longhaul "/srv/u/env/bin/longhaul" flags=(unconfined) {' in lines
    assert "  userns," in lines


def test_the_profile_takes_a_path_literally() -> None:
    profile = apparmor_profile(Path('/srv/a b/[x]{y}*?/"longhaul'))
    assert r'"/srv/a b/\[x\]\{y\}\*\?/\"longhaul"' in profile


def test_doctor_prints_the_profile_of_the_command_itself() -> None:
    command = Path(sys.executable).parent / "longhaul"
    done = subprocess.run(
        [command, "doctor", "--apparmor-profile"], capture_output=True, text=True, check=True
    )
    assert done.stdout == apparmor_profile(command.resolve())


def test_the_trial_of_namespaces_agrees_with_unshare() -> None:
    allowed = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0
    assert (refusal() is None) == allowed


def test_the_trial_names_the_step_that_fails() -> None:
    """Without any namespace left to make, unshare itself is refused: in one where their number is 0."""
    code = (
        "from longhaul.calibrate.user_namespaces import refusal\n"
        "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n"
        "print(refusal())\n"
    )
    done = subprocess.run(
        ["unshare", "-r", sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no user namespaces here: {done.stderr}")
    assert done.stdout == "unshare: No space left on device\n"
