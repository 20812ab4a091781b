"""The output of programs that are run in hosts from Python."""

import os
import signal
import subprocess

from longhaul import processes
from longhaul.run.api import output_of


def shell(script: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(["/bin/sh", "-c", script], stdout=pipe, stderr=pipe, text=True)


def test_output_is_whole() -> None:
    with shell("seq 100000; echo oh >&2; sleep 1.5; echo end") as process:
        out, errors = output_of(process)
    assert out.splitlines() == [*map(str, range(1, 100_001)), "end"]
    assert (errors, process.returncode) == ("oh\n", 0)


def test_what_is_left_in_the_background_is_not_waited_for() -> None:
    process = shell(r"sleep 30 & echo $!; printf '\303\251' >&2; exit 3")
    out, errors = output_of(process)
    sleeper = int(out)
    assert processes.state(sleeper) == "S", "it sleeps on"
    os.kill(sleeper, signal.SIGTERM)
    assert (errors, process.returncode) == ("\u00e9", 3)
