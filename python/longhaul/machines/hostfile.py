"""The machines of a run: from a file, or from an allocation of Slurm."""

import os
import re
import shlex
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.subprocesses import command_elsewhere, find_program, own_interpreter, program

MOST_MACHINES = 1_000
_LOCAL = ("localhost", "127.0.0.1", "::1")
_SUDO = ("sudo", "-n", "--")
"""``-n``: nobody is there to type a password."""
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Machine:
    """A machine that runs a part of the network."""

    name: str
    """As reports and ``place:`` name it."""
    command: tuple[str, ...]
    """Starts a program there, which follows; empty on this machine."""
    address: str
    """Where the other machines reach it."""
    cores: int | None = None
    """CPU cores, as the file says; without any, it counts as one."""
    python: str = field(default_factory=own_interpreter)
    """The interpreter there that has Longhaul."""
    has_shell: bool = False
    """Whether a shell there reads the program's command line, as behind ssh."""
    is_by_sudo: bool = False
    """Whether the run's processes there start as root, by sudo without a password."""

    @property
    def interpreter(self) -> list[str]:
        """What a Python program of the run there begins with."""
        return [*(_SUDO if self.is_by_sudo else ()), self.python]

    def python_command_line(self, *options: str) -> list[str]:
        """What starts Python there, as the run's processes start."""
        return command_elsewhere(self.command, [*self.interpreter, *options], has_shell=self.has_shell)

    @property
    def terminal_command(self) -> tuple[str, ...]:
        """As :attr:`command`, for a program that has this process's terminal."""
        with_terminal = {"-T": "-tt", "--unbuffered": "--pty", "--tty=false": "--tty=true"}
        return tuple(with_terminal.get(word, word) for word in self.command)

    def address_at(self, port: int) -> str:
        """Its address with a port, as a socket takes it. Raises LonghaulError if its name has no address."""
        try:
            found = socket.getaddrinfo(self.address, port, type=socket.SOCK_DGRAM)
        except OSError as error:
            raise LonghaulError(
                Code.CLUSTER_UNREACHABLE,
                f"machine {self.name}: {self.address} has no address: {error.strerror or error}",
                remedy="write address=ADDRESS behind its name in the hostfile",
                exit_code=3,
            ) from error
        host = found[0][4][0]
        return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


def machines_of(on: str, *, ssh: str = "ssh") -> list[Machine]:
    """The machines that ``--on`` names: ``slurm``, or a file.

    ``ssh`` is the command that reaches those of a file. Raises LonghaulError.
    """
    found = from_slurm(os.environ) if on == "slurm" else from_file(Path(on), ssh=shlex.split(ssh))
    names = [machine.name for machine in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _wrong(f"{on}: machine {twice} is listed twice", "list each machine once")
    if len(found) < 2:
        remedy = "leave out --on to run on this machine"
        raise _wrong(f"{on}: a run on several machines needs at least 2, not {len(found)}", remedy)
    if len(found) > MOST_MACHINES:
        raise _wrong(f"{on}: {len(found)} machines, of at most {MOST_MACHINES}", "use fewer")
    return found


def from_file(path: Path, *, ssh: Sequence[str]) -> list[Machine]:
    """One machine per line: ``NAME [ssh=USER@HOST] [address=ADDRESS] [cores=N] [python=PATH]``.

    ``#`` begins a comment; ``localhost`` is this machine.
    """
    try:
        text = read_regular(path, most_bytes=_MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        raise _wrong(f"{path}: is not UTF-8 text", "write one machine per line") from error
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNREADABLE,
            f"{path}: {error.strerror or error}",
            remedy="--on takes a file with one machine per line, or slurm",
            exit_code=2,
        ) from error
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if words:
            found.append(_machine(words, ssh, place=f"{path}:{number}"))
    return found


def _machine(words: Sequence[str], ssh: Sequence[str], *, place: str) -> Machine:
    name, *options = words
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise _wrong(
            f"{place}: {name}: a line begins with the name of a machine", "write for example: gw1 cores=8"
        )
    given: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not value or key not in ("ssh", "address", "cores", "python"):
            remedy = "options are ssh=USER@HOST, address=ADDRESS, cores=N and python=PATH"
            raise _wrong(f"{place}: {option} is not an option of a machine", remedy)
        given[key] = value
    cores = given.get("cores")
    if cores is not None and not (cores.isdecimal() and 0 < int(cores) <= 65_536):
        raise _wrong(f"{place}: cores={cores} is not a number of CPU cores", "write for example cores=8")
    target = given.get("ssh", name)
    # A name that begins with a dash would be an option of ssh.
    if target.startswith("-"):
        raise _wrong(f"{place}: {target} is not a host", "name a host, or ssh=USER@HOST")
    is_local = name in _LOCAL and "ssh" not in given
    command = () if is_local else (*ssh, "-o", "BatchMode=yes", "-T", target, "--")
    machine = Machine(
        name=name,
        command=command,
        address=given.get("address", target.rpartition("@")[2]),
        cores=None if cores is None else int(cores),
        has_shell=not is_local,
    )
    return replace(machine, python=given["python"]) if "python" in given else machine


def from_slurm(environment: Mapping[str, str]) -> list[Machine]:
    """The nodes of the allocation that this process is in."""
    nodes = environment.get("SLURM_JOB_NODELIST")
    if not nodes:
        raise LonghaulError(
            Code.CLUSTER_UNREACHABLE,
            "--on slurm: this is not an allocation of Slurm",
            remedy="get one first: salloc --nodes=2 --exclusive longhaul run SCENARIO --on slurm",
            exit_code=2,
        )
    listed = subprocess.run(
        [program("scontrol", package="slurm-client"), "show", "hostnames", nodes],
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.split()
    if listed.returncode != 0 or not names:
        raise LonghaulError(
            Code.CLUSTER_UNREACHABLE,
            f"--on slurm: the nodes {nodes} are not known: {listed.stderr.strip() or 'no reason given'}",
            exit_code=3,
        )
    srun = find_program("srun") or "srun"
    options = ("--ntasks=1", "--nodes=1", "--overlap", "--unbuffered", "--quiet", "--export=ALL")
    return [
        Machine(name, (srun, *options, f"--nodelist={name}"), _slurm_address(name, environment))
        for name in names
    ]


def _slurm_address(name: str, environment: Mapping[str, str]) -> str:
    """Where a node is reached: Slurm may know a better address than its name."""
    listed = subprocess.run(
        [find_program("scontrol") or "scontrol", "show", "node", "--oneliner", name],
        capture_output=True,
        text=True,
        check=False,
        env=dict(environment),
    )
    fields = dict(word.split("=", 1) for word in listed.stdout.split() if "=" in word)
    return fields.get("NodeAddr") or name


def _wrong(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.CLUSTER_DESCRIPTION, message, remedy=remedy, exit_code=2)
