"""Child processes of Longhaul, isolated from the working directory.

Whoever may write into the directory that a user works in, or into a directory of the user's ``PATH``, could
otherwise leave a ``json.py`` or an ``iperf3`` there and wait for root. Programs of a scenario are the user's
own: they keep the user's ``PATH`` and environment.
"""

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

SYSTEM_DIRECTORIES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Searched after the user's ``PATH``, as not every user has the administrator's part of it."""

_LAUNCHER = Path(__file__).with_name("launch.py")


def python_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs ``module`` of Longhaul in an interpreter of its own.

    The interpreter is isolated (``python -I``): no module or ``.pth`` file of the working directory and no
    ``PYTHON*`` variable reaches it.
    """
    return [*_interpreter(), module, *arguments]


def command_elsewhere(command: Sequence[str], program: Sequence[str], *, has_shell: bool) -> list[str]:
    """What starts ``program`` on another machine, which ``command`` reaches.

    ``has_shell`` says whether a shell there reads the program's command line, as behind ssh.
    """
    return [*command, shlex.join(program)] if has_shell else [*command, *program]


def own_interpreter() -> str:
    """The path of the Python that runs Longhaul here, as another machine with the same file system has it."""
    return sys.executable


def python_code_command(code: str, *arguments: str) -> list[str]:
    """The same for a program given as text."""
    return [*_interpreter(), "-c", code, *arguments]


def python_script_command(script: str, *arguments: str) -> list[str]:
    """The command line that runs a Python file that the user has named, as ``python FILE`` does.

    It imports from the directory of the file and not from the working directory.
    """
    return [sys.executable, os.path.abspath(script), *arguments]


def _interpreter() -> list[str]:
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    return [sys.executable, "-I", *utf8, str(_LAUNCHER), os.pathsep.join(_added_import_path())]


@contextmanager
def spawning() -> Iterator[None]:
    """Inside, what ``multiprocessing`` and Dask start for us ignores the working directory and open ones."""
    ours = {
        "PATH": trusted_path(),
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join(_added_import_path()),
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def find_program(name: str) -> str | None:
    """Where a program that Longhaul itself starts is; ``None`` if no trusted directory has it."""
    return shutil.which(name, path=trusted_path())


def program(name: str, *, package: str | None = None) -> str:
    """The same; raises LonghaulError, which names the Debian ``package`` to install, if there is none."""
    found = find_program(name)
    if found is None:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"{name} is not installed in a directory that only its administrator can write",
            remedy=f"sudo apt-get install {package or name}",
            exit_code=3,
        )
    return found


def trusted_path() -> str:
    """``PATH`` without directories that others can write, and with the system's at its end."""
    own = str(Path(sys.executable).parent)
    listed = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *SYSTEM_DIRECTORIES]
    return os.pathsep.join(dict.fromkeys(each for each in listed if each == own or is_trusted(each)))


def trusted_import_path() -> list[str]:
    """``sys.path`` without the working directory and without directories that others can write."""
    return [each for each in sys.path if each and (_is_installed(each) or _may_import(each))]


def _added_import_path() -> list[str]:
    """Of that, what an interpreter does not find by itself."""
    return [each for each in trusted_import_path() if not _is_installed(each)]


def _is_installed(path: str) -> bool:
    """Whether it belongs to the interpreter that runs already."""
    return any(Path(path).is_relative_to(prefix) for prefix in (sys.prefix, sys.base_prefix))


def _may_import(path: str) -> bool:
    if path == str(Path(__file__).parents[1]):
        return True
    try:
        is_here = os.path.samefile(path, os.curdir)
    except OSError:
        is_here = False
    return not is_here and is_trusted(path if os.path.isdir(path) else os.path.dirname(path))


def is_trusted(directory: str) -> bool:
    """Whether nobody but root and this user can put a file into ``directory``, an absolute path.

    For root that is so if all directories on the way there belong to root, or to the user who became root
    by sudo, and neither a group nor others can write them. A user trusts the owners of the machine's
    directories, which need not be root, and their groups.
    """
    if not os.path.isabs(directory):
        return False
    place = os.path.realpath(directory)
    try:
        if not _is_closed(os.stat(place), sticky=False):
            return False
        return all(_is_closed(os.stat(parent), sticky=True) for parent in Path(place).parents)
    except OSError:
        return False


def _is_closed(found: os.stat_result, *, sticky: bool) -> bool:
    """Whether others cannot replace what is in a directory (``sticky``) or add to it."""
    if not stat.S_ISDIR(found.st_mode):
        return False
    as_root = _is_root()
    if as_root and found.st_uid not in _trusted_users():
        return False
    open_to = stat.S_IWOTH | (stat.S_IWGRP if as_root and found.st_gid != 0 else 0)
    return not found.st_mode & open_to or bool(sticky and found.st_mode & stat.S_ISVTX)


def _trusted_users() -> set[int]:
    found = {0, os.geteuid()}
    by_sudo = os.environ.get("SUDO_UID", "")
    if by_sudo.isdigit():
        found.add(int(by_sudo))
    return found


def _is_root() -> bool:
    """Whether this is root of the machine, and not of a user namespace, where all other owners look alike."""
    if os.geteuid() != 0:
        return False
    try:
        first = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    except OSError:
        return True
    return first[:2] == ["0", "0"]
