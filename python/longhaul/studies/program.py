"""The program of a study, started as a process of its own."""

import signal
import subprocess
from collections.abc import Sequence
from types import FrameType
from typing import IO, Any

from longhaul.run import signals
from longhaul.studies.catalogue import StudyFolder
from longhaul.subprocesses import program as find_program
from longhaul.subprocesses import python_script_command

INTERRUPTED = 130
"""The exit code of a program that a signal ended."""


def arguments(
    only: Sequence[str] = (),
    *,
    rounds: int | None = None,
    small: bool = False,
    resume: bool = False,
    draw: bool = False,
) -> list[str]:
    """The command line that a program of a study takes: see :func:`longhaul.studies.run_study`."""
    return [
        *(word for part in only for word in ("--only", part)),
        *(["--rounds", str(rounds)] if rounds else []),
        *(["--small"] if small else []),
        *(["--resume"] if resume else []),
        *(["--draw"] if draw else []),
    ]


def run(study: StudyFolder, words: Sequence[str], *, output: IO[Any] | None = None) -> int:
    """Run the program with these words; returns its exit code.

    It imports from its own directory, not from the working directory. ``output``: instead of standard output.
    A signal that ends this process ends the program and its networks, too: of SIGINT, SIGTERM and SIGHUP
    the result is :data:`INTERRUPTED` once they have ended, and SIGKILL cannot leave the program running.
    """
    tied = [find_program("setpriv", package="util-linux"), "--pdeathsig", "TERM"]
    command = [*tied, *python_script_command(str(study.script), *words)]
    received: list[int] = []
    process: subprocess.Popen[bytes] | None = None

    def end(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        # Ctrl-C of a terminal has reached the program, too.
        if process is not None and number != signal.SIGINT:
            process.send_signal(number)

    with signals.handled(end):
        process = subprocess.Popen(command, stdout=output)
        if received:
            process.terminate()
        code = process.wait()
    if received:
        return INTERRUPTED
    return code if code >= 0 else 128 - code
