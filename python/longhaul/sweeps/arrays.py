"""Job scripts for arrays of jobs, without Dask.

Each job does a share of the sweep (``--share K/N``) and puts parts into the sweep's directory, which all jobs
must see. A share that was killed can be submitted again; ``--resume`` without a share does what is left, and
summarises.
"""

import shlex
from pathlib import Path

from longhaul.subprocesses import python_command

SLURM = """\
#!/bin/sh
#SBATCH --job-name=longhaul-sweep
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task=1
#SBATCH --output={directory}/job-%a.log
exec {command} --resume {quoted} --share "$SLURM_ARRAY_TASK_ID/{jobs}"
"""
CONDOR = """\
# condor_submit {file}
universe = vanilla
executable = {executable}
arguments = "{words} --share $(Process)/{jobs}"
transfer_executable = false
should_transfer_files = no
request_cpus = 1
getenv = true
log = {directory}/condor.log
output = {directory}/job-$(Process).log
error = {directory}/job-$(Process).log
queue {jobs}
"""


def write_scripts(directory: Path, *, jobs: int, memory_bytes: int | None = None) -> list[tuple[Path, str]]:
    """Write the scripts into the sweep's directory; returns each with the command that submits it.

    Each job may use ``memory_bytes`` of memory, by default half of what is free where it runs.
    """
    directory = directory.resolve()
    executable, *words = python_command("longhaul.cli.main", "sweep", "--workers", "1")
    words += [] if memory_bytes is None else ["--memory", f"{memory_bytes}B"]
    slurm, condor = directory / "sweep.sbatch", directory / "sweep.sub"
    fields = {
        "directory": directory,
        "quoted": shlex.quote(str(directory)),
        "words": " ".join(_condor_quoted(each) for each in [*words, "--resume", str(directory)]),
        "executable": executable,
        "command": shlex.join([executable, *words]),
        "jobs": jobs,
        "last": jobs - 1,
        "file": condor,
    }
    slurm.write_text(SLURM.format(**fields), encoding="utf-8")
    condor.write_text(CONDOR.format(**fields), encoding="utf-8")
    return [(slurm, f"sbatch {slurm}"), (condor, f"condor_submit {condor}")]


def _condor_quoted(word: str) -> str:
    """One argument in the new syntax of HTCondor, between its double quotes."""
    doubled = word.replace("'", "''").replace('"', '""')
    return f"'{doubled}'"
