"""The program of a study, started as a process of its own."""

import subprocess
from collections.abc import Sequence
from typing import IO, Any

from longhaul.studies.catalogue import StudyFolder
from longhaul.subprocesses import python_script_command

INTERRUPTED = 130
"""The exit code of a program that its user interrupts."""


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
    """Run the program with these words; returns its exit code, or :data:`INTERRUPTED`.

    It imports from its own directory, not from the working directory. ``output``: instead of standard output.
    """
    process = subprocess.Popen(python_script_command(str(study.script), *words), stdout=output)
    try:
        return process.wait()
    except KeyboardInterrupt:
        # The terminal has interrupted the study, too, which ends its networks.
        process.wait()
        return INTERRUPTED
