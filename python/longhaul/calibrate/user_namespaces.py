"""User namespaces of plain users: whether this machine allows them, what forbids them, and the remedy.

Ubuntu 23.10 and later restrict them through AppArmor: a program without a profile may create a user
namespace, but has no capability in it, so that writing ``uid_map`` or configuring a device fails
(https://documentation.ubuntu.com/release-notes/24.04/#unprivileged-user-namespace-restrictions).
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from longhaul.subprocesses import python_code_command

PROFILE = Path("/etc/apparmor.d/longhaul")
"""Where an administrator installs the profile."""
INSTALL = f"longhaul doctor --apparmor-profile | sudo tee {PROFILE}; sudo apparmor_parser -r {PROFILE}"
_APPARMOR_SYSCTL = "kernel.apparmor_restrict_unprivileged_userns"
_TRIAL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
uid, gid = os.getuid(), os.getgid()
def step(what, call):
    try:
        call()
    except OSError as error:
        print(f"{what}: {os.strerror(error.errno)}")
        sys.exit(1)
def unshare():
    if libc.unshare(0x10000000 | 0x40000000):
        raise OSError(ctypes.get_errno(), "")
def write(name, text):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
step("unshare", unshare)
step("write /proc/self/setgroups", lambda: write("setgroups", "deny"))
step("write /proc/self/uid_map", lambda: write("uid_map", f"0 {uid} 1"))
step("write /proc/self/gid_map", lambda: write("gid_map", f"0 {gid} 1"))
step("write /proc/sys/net/ipv4/ip_forward", lambda: write("../sys/net/ipv4/ip_forward", "0"))
"""

Restriction = Literal["apparmor", "unprivileged_userns_clone", "max_user_namespaces"]


@dataclass(frozen=True)
class Obstacle:
    """Why a plain user gets no namespaces, and what an administrator can do."""

    detail: str
    remedy: str


def refusal() -> str | None:
    """The step of making a user and a network namespace that fails, and its error; ``None`` if none does.

    A process of its own takes the steps of a live run, up to a setting that needs a capability.
    """
    done = subprocess.run(python_code_command(_TRIAL), capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stdout or done.stderr).strip().rpartition("\n")[2]


def restriction(root: Path) -> Restriction | None:
    """The setting below ``root``/proc and ``root``/sys that restricts user namespaces, if one does."""
    enabled = _read(root / "sys/module/apparmor/parameters/enabled")
    label = _read(root / "proc/self/attr/apparmor/current") or _read(root / "proc/self/attr/current")
    restricted = _read(root / "proc/sys" / _APPARMOR_SYSCTL.replace(".", "/")) == "1"
    if restricted and enabled != "N" and label.partition(" ")[0] in ("", "unconfined", "unprivileged_userns"):
        return "apparmor"
    if _read(root / "proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "unprivileged_userns_clone"
    if _read(root / "proc/sys/user/max_user_namespaces") == "0":
        return "max_user_namespaces"
    return None


def obstacle(refused: str, root: Path = Path("/")) -> Obstacle:
    """What the refusal of :func:`refusal` is due to, and the remedy."""
    by_root = "or run as root (longhaul run --sudo)"
    match restriction(root):
        case "apparmor":
            detail = f"AppArmor restricts user namespaces ({_APPARMOR_SYSCTL}=1): {refused}"
            return Obstacle(
                detail, f"{INSTALL}. For all programs: sudo sysctl -w {_APPARMOR_SYSCTL}=0; {by_root}"
            )
        case "unprivileged_userns_clone":
            detail = f"kernel.unprivileged_userns_clone is 0: {refused}"
            return Obstacle(detail, f"sudo sysctl -w kernel.unprivileged_userns_clone=1, {by_root}")
        case "max_user_namespaces":
            detail = f"user.max_user_namespaces is 0: {refused}"
            return Obstacle(detail, f"sudo sysctl -w user.max_user_namespaces=10000, {by_root}")
        case None:
            detail = f"this user may not create user namespaces: {refused}"
            return Obstacle(detail, f"in a container allow unshare (docker run --privileged), {by_root}")


def apparmor_profile(executable: Path) -> str:
    """A profile that allows ``executable``, and what it starts, user namespaces; it restricts nothing."""
    return f"""\
# Allows Longhaul user namespaces where
# {_APPARMOR_SYSCTL}=1 (Ubuntu 24.04). Install it:
#   longhaul doctor --apparmor-profile | sudo tee {PROFILE}
#   sudo apparmor_parser -r {PROFILE}
abi <abi/4.0>,
include <tunables/global>

profile longhaul {_quoted(executable)} flags=(unconfined) {{
  userns,

  include if exists <local/longhaul>
}}
"""


def _quoted(path: Path) -> str:
    """A path as AppArmor reads it: its globs and quotes are escaped (apparmor.d(5))."""
    return '"' + re.sub(r'([][\\{}*?^@"])', r"\\\1", str(path)) + '"'


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip("\n\0 ")
    except (OSError, ValueError):
        return ""
